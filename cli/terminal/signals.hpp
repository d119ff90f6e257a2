// SIGINT, SIGTERM and SIGHUP, taken by a thread that waits for them, so that nothing happens inside a signal handler.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include <signal.h>

namespace troupe::cli {

/// SIGPIPE and SIGXFSZ: a reader of standard output that goes away and a limit on the size of files are errors of writing, and not
/// the end. Before anything is written.
void ignore_signals_of_writing();

/// Made in main before any other thread: blocks these signals for all of them. The first signal is told to whoever asked;
/// the second ends the process at once, with the status of the first, whatever whoever asked is doing. A SIGHUP that the parent
/// ignores, as nohup does, stays ignored.
class signal_watch {
 public:
  /// std::system_error: the system gave no thread.
  signal_watch();
  ~signal_watch();
  signal_watch(const signal_watch&) = delete;
  signal_watch& operator=(const signal_watch&) = delete;

  /// The first signal, 0 before.
  int first() const noexcept { return first_; }
  /// What to do at the first signal, on the watching thread; now, if it has been. Nothing: forgets the last one, which
  /// is not running any more when this returns.
  void at_first(std::function<void()> what);

 private:
  void watch(sigset_t set);

  std::mutex guard_;
  std::function<void()> what_;
  std::atomic<int> first_{0};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace troupe::cli
