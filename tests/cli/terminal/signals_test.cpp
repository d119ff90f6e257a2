#include "cli/terminal/signals.hpp"

#include <doctest/doctest.h>

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

namespace troupe::cli {

namespace {

/// The exit of a process that receives these signals, each after the one before was handled, and takes no action.
int status_after(int first, int second) {
  const pid_t child = fork();
  if (child == 0) {
    signal_watch signals;
    std::atomic<int> told{0};
    signals.at_first([&] { ++told; });
    kill(getpid(), first);
    while (told == 0)
      std::this_thread::yield();
    if (signals.first() != first || told != 1)
      _exit(1);
    kill(getpid(), second);
    for (;;)
      pause();
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a second signal ends the process at once, with the status of the first") {
  CHECK(status_after(SIGINT, SIGTERM) == 130);
  CHECK(status_after(SIGTERM, SIGINT) == 143);
  CHECK(status_after(SIGINT, SIGINT) == 130);
  CHECK(status_after(SIGHUP, SIGHUP) == 129);
}

TEST_CASE("a second signal ends the process while what the first one asked for is still being done") {
  const pid_t child = fork();
  if (child == 0) {
    signal_watch signals;
    std::atomic<bool> begun{false};
    signals.at_first([&] {
      begun = true;
      for (;;)
        pause();
    });
    kill(getpid(), SIGTERM);
    while (!begun)
      std::this_thread::yield();
    kill(getpid(), SIGINT);
    for (;;)
      pause();
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 143);
}

TEST_CASE("a SIGHUP that the parent ignores, as nohup does, stays ignored, and a limit on file sizes ends nothing") {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGHUP, SIG_IGN);
    ignore_signals_of_writing();
    signal_watch signals;
    std::atomic<int> told{0};
    signals.at_first([&] { ++told; });
    kill(getpid(), SIGHUP);
    kill(getpid(), SIGXFSZ);
    kill(getpid(), SIGTERM);
    while (told == 0)
      std::this_thread::yield();
    _exit(signals.first());
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == SIGTERM);
}

}  // namespace troupe::cli
