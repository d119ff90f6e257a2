// A reader that holds no lock beside a writer, on the real disk.
#include "storage/checkpoint_store.hpp"

#include "storage/state_file.hpp"
#include "tests/storage/samples.hpp"

#include <atomic>
#include <cstdio>
#include <thread>

namespace troupe {

namespace {

constexpr int64_t last_step = 40;

/// Commits steps 1 to `last_step` while `look` runs again and again on this thread.
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
    REQUIRE(write_state_file({state->newest}) == *text);
    REQUIRE(state->newest >= newest);
    newest = state->newest;
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
      REQUIRE_MESSAGE(restored.error().category == errc::not_found, to_string(restored.error()));
      REQUIRE(newest == 0);
      return;
    }
    REQUIRE(restored->content.step >= newest);
    newest = restored->content.step;
    REQUIRE(same(restored->content, sample(newest)));
  });
  CHECK(newest == last_step);
}

}  // namespace troupe
