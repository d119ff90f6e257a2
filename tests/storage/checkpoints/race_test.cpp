// A reader without a lock beside a writer, on the real disk.
#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/checkpoints/state_file.hpp"
#include "tests/storage/samples.hpp"

#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

namespace troupe {

namespace {

constexpr int64_t last_step = 40;

/// Commits steps 1 to `last_step` in another thread, while this thread calls `look` repeatedly.
template <class Look>
void beside_a_writer(const std::string& directory, Look look) {
  std::atomic<bool> done = false;
  expected<void> outcome;
  std::thread writer{[&] {
    auto store = checkpoint_store::open(posix_file_system(), directory, {.keep_checkpoint_max = 1});
    for (int64_t step = 1; store && outcome && step <= last_step; ++step)
      outcome = (*store)->commit(sample(step)).map([](const auto&) {});
    done = true;
  }};
  while (!done)
    look();
  writer.join();
  REQUIRE(outcome);
  look();
}

}  // namespace

TEST_CASE("[EST-58] a reader polling the state file never sees a partial file") {
  const temporary_directory disk;
  auto fs = posix_file_system();
  int64_t looks = 0, newest = 0;
  beside_a_writer(disk.path, [&] {
    const auto text = read_file(*fs, disk.path + "/checkpoint");
    if (!text) {
      REQUIRE(newest == 0);
      return;
    }
    const auto state = parse_state_file(*text, "checkpoint");
    REQUIRE(state);
    REQUIRE(write_state_file({state->newest}, state->retention) == *text);
    REQUIRE(state->retention.saved_at.contains(state->newest));
    REQUIRE(state->newest.step >= newest);
    newest = state->newest.step;
    ++looks;
  });
  CHECK(newest == last_step);
  std::printf("state files read beside a writer: %lld\n", static_cast<long long>(looks));
}

TEST_CASE("a reader restores the newest checkpoint whole while its owner commits and deletes") {
  const temporary_directory disk;
  auto reader = open_store(posix_file_system(), {.read_only = true}, disk.path);
  int64_t newest = 0;
  beside_a_writer(disk.path, [&] {
    const auto restored = reader->restore_newest();
    if (!restored) {
      REQUIRE_MESSAGE(restored.error().category == errc::not_found, to_text(restored.error()));
      REQUIRE(newest == 0);
      return;
    }
    REQUIRE(restored->content.id.step >= newest);
    newest = restored->content.id.step;
    REQUIRE(same(restored->content, sample(newest)));
  });
  CHECK(newest == last_step);
}

TEST_CASE(
    "a process killed at any moment of its saves leaves the newest it had reported, or a newer one, and no lock") {
  const temporary_directory disk;
  int64_t newest = 0;
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    int reports[2];
    REQUIRE(::pipe(reports) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);  // Ends the child if the parent fails before.
      auto store = checkpoint_store::open(posix_file_system(), disk.path,
                                          {.keep_checkpoint_max = 2, .shard_bytes_max = 64});
      for (int64_t step = newest + 1; store && (*store)->commit(sample(step)); ++step)
        if (::write(reports[1], &step, sizeof step) != sizeof step)
          break;
      ::_exit(1);
    }
    ::close(reports[1]);
    int64_t reported = 0;
    for (int i = 0; i < 2; ++i)
      REQUIRE(::read(reports[0], &reported, sizeof reported) == sizeof reported);
    // Each round kills a little later in the next commit, after so many changes of the directory and not by a clock.
    std::set<std::string> names;
    for (int changes = 0, looks = 0; changes < round && looks < 100'000; ++looks) {
      std::set<std::string> now;
      for (const auto& entry : std::filesystem::directory_iterator(disk.path))
        now.insert(entry.path().filename());
      changes += now != names;
      names = std::move(now);
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (int64_t step; ::read(reports[0], &step, sizeof step) == sizeof step;)
      reported = step;
    ::close(reports[0]);
    const auto store = open_store(posix_file_system(), {.keep_checkpoint_max = 2, .shard_bytes_max = 64}, disk.path);
    const auto restored = store->restore_newest();
    REQUIRE_MESSAGE(restored, (restored ? "" : to_text(restored.error())));
    CHECK(restored->warnings.empty());
    CHECK(restored->content.id.step >= reported);
    CHECK(restored->content.id.step <= reported + 1);
    CHECK(same(restored->content, sample(restored->content.id.step)));
    newest = restored->content.id.step;
  }
}

}  // namespace troupe
