// Real processes that are slow or were stopped: they end on request, and time in which they were stopped counts for no
// deadline.
#include "tests/scenarios/child_process.hpp"
#include "tests/support/has.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <sstream>

namespace troupe {

using test::has;

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto patience = 60s;  ///< The longest silence of a child, also under a sanitizer.

/// The address sanitizer keeps freed memory in a quarantine of 256 MB by default. A small one makes growth visible.
void keep_little_freed_memory() {
  if (const char* const options = std::getenv("ASAN_OPTIONS"))
    setenv("ASAN_OPTIONS", (std::string{options} + ":quarantine_size_mb=1:thread_local_quarantine_size_kb=64").c_str(),
           1);
}

/// A slow_trainer process, whose output it parses.
struct slow_trainer {
  slow_trainer(int batch_ms, int hook_ms, int deadline_ms)
    : child(TROUPE_SLOW_TRAINER,
            {directory / "run", std::to_string(batch_ms), std::to_string(hook_ms), std::to_string(deadline_ms)},
            [this](const std::string& line) { hear(line); }) {}

  void hear(const std::string& line) {
    std::istringstream words{line};
    std::string what;
    words >> what;
    if (what == "at") {
      words >> step >> resident_kb;
    } else if (what == "ended") {
      words >> step >> how >> hooks_ended;
      std::getline(words, text);
    } else {
      FAIL_CHECK("the trainer said '" << line << "'");
    }
  }
  bool reach(int64_t least) {
    for (const auto end = steady_clock::now() + patience; step < least && how.empty() && steady_clock::now() < end;)
      if (!child.listen(100ms))
        break;
    return step >= least && how.empty();
  }
  /// Sends the request and waits for the end of the job. Returns how long this took. "interrupt" is Ctrl-C.
  steady_clock::duration ask(const std::string& request) {
    const auto began = steady_clock::now();
    if (request == "interrupt")
      child.send(SIGINT);
    else
      child.say(request);
    while (how.empty() && child.listen(1s) && steady_clock::now() - began < patience) {}
    return steady_clock::now() - began;
  }

  test::temporary_directory directory;
  int64_t step = -1, resident_kb = 0;
  int hooks_ended = 0;
  std::string how, text;
  child_process child;
};

}  // namespace

TEST_CASE("a process that was stopped for longer than its deadlines goes on") {
  slow_trainer trainer{20, -1, 1000};
  REQUIRE(trainer.reach(5));
  trainer.child.send(SIGSTOP);
  for (const auto end = steady_clock::now() + 3s; steady_clock::now() < end;)
    // Waits while the child is silent.
    REQUIRE(trainer.child.listen(std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now())));
  const auto stood_at = trainer.step;
  trainer.child.send(SIGCONT);
  CHECK_MESSAGE(trainer.reach(stood_at + 20), trainer.how << trainer.text);
  trainer.ask("stop");
  CHECK_MESSAGE(trainer.how == "stopped", trainer.text);
}

TEST_CASE(
    "a stop, an abort and Ctrl-C end a job beside a slow input and a slow hook within a batch and a call, and the "
    "hooks see the end") {
  for (const auto& [batch_ms, hook_ms] :
       std::vector<std::pair<int, int>>{{20, -1}, {300, -1}, {0, 1}, {0, 50}, {20, 1}})
    for (const std::string request : {"stop", "abort", "interrupt"}) {
      CAPTURE(batch_ms);
      CAPTURE(hook_ms);
      CAPTURE(request);
      slow_trainer trainer{batch_ms, hook_ms, 0};
      REQUIRE(trainer.reach(batch_ms > 100 ? 3 : 20));
      const auto took = trainer.ask(request);
      MESSAGE("", request, " beside ", batch_ms, " ms a batch and ", hook_ms, " ms a call took ",
              std::chrono::duration_cast<std::chrono::milliseconds>(took).count(), " ms");
      CHECK(trainer.how == (request == "abort" ? "failed" : "stopped"));
      CHECK_MESSAGE(!has(trainer.text, "did not end in time"), trainer.text);
      CHECK(took < 20s);  // It takes two seconds on an idle machine, and ten minutes if a deadline has to end the job.
      if (hook_ms >= 0)
        CHECK(trainer.hooks_ended == 1);
    }
}

TEST_CASE("what a process holds stays level beside a slow input, a slow hook and a hook that sees every step") {
  keep_little_freed_memory();
  const char* const wish = std::getenv("TROUPE_PATIENCE_SECONDS");
  const auto whole = std::chrono::seconds{wish ? std::atoi(wish) : 6};
  for (const auto& [batch_ms, hook_ms] : std::vector<std::pair<int, int>>{{20, 1}, {0, 1}, {0, 0}}) {
    CAPTURE(batch_ms);
    CAPTURE(hook_ms);
    slow_trainer trainer{batch_ms, hook_ms, 0};
    REQUIRE(trainer.reach(20));
    const auto listen_until = [&](steady_clock::time_point end) {
      while (steady_clock::now() < end)
        REQUIRE(trainer.child.listen(100ms));
    };
    const auto began = steady_clock::now();
    listen_until(began + whole / 2);
    const auto kb = trainer.resident_kb, step = trainer.step;
    listen_until(began + whole);
    MESSAGE("", batch_ms, " ms a batch, ", hook_ms, " ms a call: ", kb, " kB after ", whole.count() / 2, " s and step ",
            step, ", ", trainer.resident_kb, " kB after ", whole.count(), " s and step ", trainer.step);
    CHECK(trainer.step > step);
    if (whole > 30s)  // A heap may take so long to reach its working size.
      CHECK(trainer.resident_kb - kb <= 2048);
    else
      CHECK(trainer.resident_kb - kb <= 8192);  // The leak that this must notice is 23 MB a second.
    trainer.ask("abort");
  }
}

}  // namespace troupe
