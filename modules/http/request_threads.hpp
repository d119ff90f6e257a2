// Threads that answer requests, and the connections that wait for a thread.
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

  /// At most `most` threads; each is started when it is first needed. At most `waiting_max` connections wait when no
  /// thread is free.
  request_threads(size_t most, size_t waiting_max, work serve);
  ~request_threads() { end(); }
  request_threads(const request_threads&) = delete;
  request_threads& operator=(const request_threads&) = delete;

  enum class added : uint8_t { taken, full, no_thread };
  /// Takes the connection, except if `waiting_max` connections wait already or no thread can be started.
  added add(std::unique_ptr<connection>& c);

  /// Asked by one of these threads while its connection sends no request: whether the thread should give up that
  /// connection because another one waits. Each waiting connection gets one thread this way.
  bool is_wanted();
  /// Readable while `is_wanted` would return true.
  int wanted() const { return wanted_.fd(); }

  /// From then on `is_wanted` is true and `add` returns `no_thread`. Returns once all waiting connections are served.
  void end();

 private:
  bool add_thread();
  void serve_all();
  void show_whether_wanted();  ///< Sets or clears `wanted_`; called after each change.
  bool waits_for_more() const { return ended_ || waiting_.size() > free_ + promised_; }

  const size_t most_, waiting_max_;
  const work serve_;
  const wake_up wanted_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<connection>> waiting_;
  std::vector<std::thread> threads_;
  size_t free_ = 0;      ///< Threads without a connection.
  size_t promised_ = 0;  ///< Threads that were told to give up their connection and still have it.
  bool shown_ = false, ended_ = false;
};

}  // namespace troupe
