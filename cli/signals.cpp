#include "cli/signals.hpp"

#include <csignal>

#include <unistd.h>

namespace troupe::cli {

namespace {

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

signal_watch::signal_watch() {
  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = watched();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread{[this] { watch(); }};
}

signal_watch::~signal_watch() {
  ending_ = true;
  pthread_kill(thread_.native_handle(), SIGTERM);  // Only wakes it: it looks at ending_ first.
  thread_.join();
}

void signal_watch::at_first(std::function<void()> what) {
  std::lock_guard lock{guard_};
  what_ = std::move(what);
  if (first_ != 0 && what_)
    what_();
}

void signal_watch::watch() {
  const sigset_t set = watched();
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0)
      continue;
    if (ending_)
      return;
    if (first_ != 0)
      _exit(128 + first_);
    std::lock_guard lock{guard_};
    first_ = signal;
    if (what_)
      what_();
  }
}

}  // namespace troupe::cli
