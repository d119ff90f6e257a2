// The loops beside the runs of a session, each on a thread of its own.
#pragma once

#include "estimator/session_view.hpp"

#include <atomic>
#include <mutex>
#include <thread>

namespace troupe {

struct session_loop {
  std::string name;
  std::optional<std::chrono::milliseconds> every;
  std::function<expected<void>(const loop_context& now)> f;
};

class session_loops {
 public:
  explicit session_loops(coordinator together) : together_(std::move(together)) {}
  ~session_loops();

  void watch(std::shared_ptr<session_view> view) { view_ = std::move(view); }
  void begin(session_loop x);
  /// Stops and awaits the loops, and the threads of the program that have enlisted. Those that have not ended in time
  /// are named in `log` and left behind.
  void end(std::chrono::milliseconds grace, const std::function<void(const std::string&)>& log);
  void begin_again();

 private:
  struct thread {
    std::thread handle;
    std::shared_ptr<std::atomic<bool>> ended;
  };
  void start(const session_loop& x);

  coordinator together_;
  std::shared_ptr<session_view> view_;
  std::mutex guard_;  ///< Of the two lists.
  std::vector<session_loop> all_;
  std::vector<thread> threads_;
};

}  // namespace troupe
