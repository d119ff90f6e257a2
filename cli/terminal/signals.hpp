// Receives SIGINT, SIGTERM, SIGHUP, SIGTSTP and SIGCONT on a waiting thread, so that no code runs in a signal handler.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

namespace troupe::cli {

/// Ignores SIGPIPE and SIGXFSZ: a vanished reader of standard output and an exceeded limit on the size of files become
/// write errors and do not end the process. Call before anything is written.
void ignore_signals_of_writing();

/// Made in main before any other thread: blocks these signals in all threads. The first signal runs the registered
/// function. The second one ends the process at once, with the status of the first, whatever that function is doing. A
/// SIGHUP that the parent ignores, as nohup does, stays ignored.
class signal_watch {
 public:
  /// Throws std::system_error if the system can start no thread.
  signal_watch();
  ~signal_watch();
  signal_watch(const signal_watch&) = delete;
  signal_watch& operator=(const signal_watch&) = delete;

  /// The number of the first signal, 0 before it.
  int first() const noexcept { return first_; }
  /// Registers a function for the first signal. It is called on the watching thread, or at once if the signal has come
  /// already. An empty function unregisters the last one, which is not running when this returns.
  void at_first(std::function<void()> what);
  /// Registers a function for SIGTSTP (true) and SIGCONT (false), until one of the other signals comes; an empty
  /// function unregisters it. If none is registered, or if standard input is a terminal, whose shell expects that,
  /// SIGTSTP also stops the process.
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
