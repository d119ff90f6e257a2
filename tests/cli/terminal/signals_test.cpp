#include "cli/terminal/signals.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace troupe::cli {

namespace {

/// The exit status of a process that receives two signals, the second after it has handled the first, and does not end
/// by itself.
int status_after(int first, int second) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGHUP, SIG_DFL);  // The tests may run under nohup.
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

TEST_CASE("SIGTSTP pauses and SIGCONT resumes, again and again, and neither is the first signal") {
  const pid_t child = fork();
  if (child == 0) {
    // No terminal as standard input: on a terminal the process would also be stopped.
    if (!std::freopen("/dev/null", "r", stdin))
      _exit(2);
    signal_watch signals;
    std::atomic<int> paused{0}, resumed{0}, told{0};
    signals.at_pause([&](bool pause) { ++(pause ? paused : resumed); });
    signals.at_first([&] { ++told; });
    for (int round = 1; round <= 3; ++round) {
      kill(getpid(), SIGTSTP);
      while (paused < round)
        std::this_thread::yield();
      kill(getpid(), SIGCONT);
      while (resumed < round)
        std::this_thread::yield();
    }
    if (signals.first() != 0 || told != 0)
      _exit(3);
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

TEST_CASE("a command that cannot pause is stopped by SIGTSTP as usual, and goes on at SIGCONT") {
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    signal_watch signals;
    std::atomic<int> told{0};
    signals.at_first([&] { ++told; });
    if (write(ready[1], "!", 1) != 1)
      _exit(2);
    while (told == 0)
      std::this_thread::yield();
    _exit(signals.first());
  }
  int status = 0;
  char mark = 0;
  REQUIRE(read(ready[0], &mark, 1) == 1);
  kill(child, SIGTSTP);
  REQUIRE(waitpid(child, &status, WUNTRACED) == child);
  REQUIRE(WIFSTOPPED(status));
  kill(child, SIGCONT);
  kill(child, SIGTERM);
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == SIGTERM);
  close(ready[0]);
  close(ready[1]);
}

}  // namespace troupe::cli
