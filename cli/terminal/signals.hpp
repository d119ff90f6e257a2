// SIGINT, SIGTERM, SIGHUP, SIGTSTP and SIGCONT, received by a waiting thread, so that nothing runs inside a signal handler.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include <signal.h>

namespace troupe::cli {

/// Ignores SIGPIPE and SIGXFSZ: a reader of standard output that goes away and a limit on the size of files become
/// write errors instead of ending the process. Call before anything is written.
void ignore_signals_of_writing();

/// Made in main before any other thread: blocks these signals for all of them. The first signal runs the registered
/// function; the second ends the process at once, with the status of the first, whatever that function is doing. A
/// SIGHUP that the parent ignores, as nohup does, stays ignored.
class signal_watch {
 public:
  /// std::system_error: the system had no thread to give.
  signal_watch();
  ~signal_watch();
  signal_watch(const signal_watch&) = delete;
  signal_watch& operator=(const signal_watch&) = delete;

  /// The number of the first signal, 0 before it.
  int first() const noexcept { return first_; }
  /// Registers a function for the first signal, called on the watching thread, or at once if the signal has come. An
  /// empty function unregisters the last one, which is no longer running when this returns.
  void at_first(std::function<void()> what);
  /// Registers a function for SIGTSTP (true) and SIGCONT (false), until the first of the other signals; an empty one
  /// unregisters it. Where none is registered, or where standard input is a terminal, whose shell waits for that, SIGTSTP then
  /// stops the process as usual.
  void at_pause(std::function<void(bool)> what);

 private:
  void watch(sigset_t set);
  void on_pause(bool pause);

  std::mutex guard_;
  std::function<void()> what_;
  std::function<void(bool)> pause_;
  std::atomic<int> first_{0};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace troupe::cli
