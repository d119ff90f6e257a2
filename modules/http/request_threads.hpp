// Threads that answer requests, and the connections that wait for one.
#pragma once

#include "modules/http/connection.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe {

/// Any thread.
class request_threads {
 public:
  using work = std::function<void(std::unique_ptr<connection>)>;

  /// `most` threads, each begun once it is needed.
  request_threads(size_t most, size_t waiting_max, work serve);
  ~request_threads() { end(); }
  request_threads(const request_threads&) = delete;
  request_threads& operator=(const request_threads&) = delete;

  enum class added : uint8_t { taken, full, no_thread };
  /// Takes the connection, unless as many wait as may, or no thread is to be had.
  added add(std::unique_ptr<connection>& c);

  /// Asked by a thread of these whose connection brings no request: whether it is to let go of that connection, since another one waits. Each
  /// that waits is promised one thread.
  bool is_wanted();
  /// Can be read while `is_wanted` would be true.
  int wanted() const { return wanted_.fd(); }

  /// Every thread is wanted and `add` has none from now on. Returns once all that waits is served.
  void end();

 private:
  bool add_thread();
  void serve_all();
  void show_whether_wanted();  ///< After each change.
  bool waits_for_more() const { return ended_ || waiting_.size() > free_ + promised_; }

  const size_t most_, waiting_max_;
  const work serve_;
  const wake_up wanted_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<connection>> waiting_;
  std::vector<std::thread> threads_;
  size_t free_ = 0;       ///< Threads without a connection.
  size_t promised_ = 0;   ///< Threads that have been told to let go of theirs, and have it still.
  bool shown_ = false, ended_ = false;
};

}  // namespace troupe
