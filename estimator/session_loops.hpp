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
  using log_lines = std::function<void(const std::string&)>;
  /// Stops and awaits the loops, and the threads of the program that have enlisted. Those that have not ended in time
  /// are named in `log` and left behind: their functions are not called again.
  void end(std::chrono::milliseconds grace, const log_lines& log);
  /// The same, and the loops can begin again. Stop requests from then on count.
  void interrupt(std::chrono::milliseconds grace, const log_lines& log);
  /// Begins the loops that `interrupt` has ended. One whose function had not returned goes on once it does.
  void begin_again();

 private:
  /// One loop, shared with its thread.
  struct loop_state {
    session_loop what;
    std::mutex guard = {};  ///< Of what follows.
    std::optional<coordinator::membership> here = {};
    bool ended = false, again = false;
    bool left_behind = false;
  };
  struct thread {
    std::thread handle;
    std::shared_ptr<loop_state> of;
  };
  void start(const std::shared_ptr<loop_state>& loop);
  void join(join_options how);

  coordinator together_;
  std::shared_ptr<session_view> view_;
  std::mutex guard_;  ///< Of the list.
  std::vector<thread> all_;
};

}  // namespace troupe
