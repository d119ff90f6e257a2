#include "cli/terminal/signals.hpp"

#include <unistd.h>

#include <csignal>
#include <utility>

namespace troupe::cli {

namespace {

bool is_ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  for (const int signal : {SIGHUP, SIGTSTP})
    if (!is_ignored(signal))  // A blocked signal stays pending even if it is ignored.
      sigaddset(&set, signal);
  sigaddset(&set, SIGCONT);
  return set;
}

/// Global, since a process has one watch.
std::atomic<int> status_of_first{0};

void end_process(int) { _exit(status_of_first); }

/// From then on these signals end the process; this thread receives them.
void end_at_next(const sigset_t& set, int first) {
  status_of_first = 128 + first;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (sigismember(&set, signal) == 1)
      std::signal(signal, end_process);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace

void ignore_signals_of_writing() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

signal_watch::signal_watch() {
  const sigset_t set = watched();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread{[this, set] { watch(set); }};
}

signal_watch::~signal_watch() {
  ending_ = true;
  ending_.notify_all();
  if (first_ == 0)
    pthread_kill(thread_.native_handle(), SIGTERM);  // Only wakes the thread, which checks ending_ first.
  thread_.join();
}

void signal_watch::at_first(std::function<void()> what) {
  std::lock_guard lock{guard_};
  what_ = std::move(what);
  if (first_ != 0 && what_)
    what_();
}

void signal_watch::at_pause(std::function<void(bool)> what) {
  std::lock_guard lock{guard_};
  pause_ = std::move(what);
}

void signal_watch::on_pause(bool pause) {
  bool stops = pause;
  {
    std::lock_guard lock{guard_};
    if (pause_)
      pause_(pause);
    stops = stops && (!pause_ || isatty(STDIN_FILENO) == 1);
  }
  if (stops)
    ::kill(::getpid(), SIGSTOP);
}

void signal_watch::watch(sigset_t set) {
  int signal = 0;
  while (sigwait(&set, &signal) != 0 || signal == SIGTSTP || signal == SIGCONT)
    if (signal == SIGTSTP || signal == SIGCONT)
      on_pause(std::exchange(signal, 0) == SIGTSTP);
  if (ending_)
    return;
  end_at_next(set, signal);
  {
    std::lock_guard lock{guard_};
    first_ = signal;
    if (what_)
      what_();
  }
  ending_.wait(false);  // This thread receives the next signal.
}

}  // namespace troupe::cli
