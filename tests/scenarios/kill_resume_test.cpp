// A training process is killed repeatedly and restarted each time. It must resume from the newest complete commit, lose
// no state that it reported as saved, and end byte for byte like an undisturbed process.
#include "storage/checkpoints/checkpoint_store.hpp"
#include "tests/scenarios/trainer_process.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <random>
#include <utility>

namespace troupe {

namespace {

using std::chrono::steady_clock;
using test::temporary_directory;

constexpr int64_t max_steps = 3000;
constexpr int64_t save_every = 60;  // The same as in trainer.cpp.
constexpr int64_t kills_planned = 24, kills_min = 20, kills_max = 60;
constexpr int64_t kills_while_saving_min = 3;
/// A parameter store has two arenas: while one snapshot is written, training can at most reach the next, so the newest
/// commit is at worst the one before.
constexpr int64_t lost_max = 2 * save_every;
/// The longest silence of a child, including its start under a sanitizer.
constexpr std::chrono::seconds patience{120};

/// The name of a file that is being written; empty if there is none.
std::string temporary_file(const std::string& directory) {
  std::error_code failed;  // The trainer creates and removes files meanwhile.
  for (std::filesystem::directory_iterator i{directory, failed}, end; !failed && i != end; i.increment(failed))
    if (i->path().extension() == ".tmp")
      return i->path().filename();
  return {};
}

expected<restored_checkpoint> newest(const std::string& directory) {
  auto store = checkpoint_store::open(posix_file_system(), directory, {.read_only = true});
  if (!store)
    return fail(store.error());
  return (*store)->restore_newest();
}

std::vector<checkpoint_id> listed(const std::string& directory) {
  auto store = checkpoint_store::open(posix_file_system(), directory, {.read_only = true});
  REQUIRE(store);
  return (*store)->listed();
}

/// Reads the child's output until `enough` is true or the child is held at its gate.
template <class Enough>
void listen_until(trainer_process& child, std::chrono::milliseconds wait, Enough enough) {
  auto heard = steady_clock::now();
  int64_t lines = child.lines;
  while (!enough() && !child.gate) {
    const bool alive = child.listen(wait);
    REQUIRE_MESSAGE(alive, "the trainer ended by itself at step " << child.reached << " " << child.error);
    if (std::exchange(lines, child.lines) != child.lines)
      heard = steady_clock::now();
    REQUIRE_MESSAGE(steady_clock::now() - heard < patience, "the trainer has been silent since step " << child.reached);
  }
}

/// Waits for the child's end, which must be a success. `child` keeps its output.
void run_to_the_end(trainer_process& child) {
  const int status = child.wait();
  REQUIRE_MESSAGE(status == 0, "the trainer ended with " << status << " " << child.error);
  CHECK(child.done == max_steps);
}

/// Starts a child and kills it near step `drawn`. True: it died while it wrote a file.
bool live_and_die(const std::string& directory, uint64_t seed, int64_t number, int64_t drawn, bool while_saving) {
  // The gate is a little beyond the drawn step, or far enough for a save if the test waits for one; never at the end.
  const int64_t gate = std::min(drawn + (while_saving ? 2 * save_every : save_every / 2), max_steps - 1);
  const auto before = newest(directory);
  trainer_process child{{directory, std::to_string(max_steps), std::to_string(gate)}};
  std::string seen;
  listen_until(child, std::chrono::milliseconds{1000}, [&] { return child.started && child.reached >= drawn; });
  if (while_saving)
    listen_until(child, std::chrono::milliseconds{0}, [&] { return !(seen = temporary_file(directory)).empty(); });
  child.kill();

  const bool caught = !seen.empty() && std::filesystem::exists(directory + "/" + seen);
  const int64_t committed_before = before ? before->content.id.step : 0;
  std::printf("kill %" PRId64 ": seed %" PRIu64 ", drawn %" PRId64 ", started at %" PRId64 ", at step %" PRId64
              "%s%s%s\n",
              number, seed, drawn, child.started.value_or(-1), child.reached, caught ? ", while saving (" : "",
              caught ? seen.c_str() : "", caught ? ")" : "");
  std::fflush(stdout);

  CHECK(child.started == committed_before);
  const auto after = newest(directory);
  if (!after) {
    CHECK_MESSAGE(after.error().category == errc::not_found, to_text(after.error()));
    CHECK(child.saved < 0);
    CHECK(child.reached <= lost_max);
    return caught;
  }
  if (!std::filesystem::exists(directory + "/checkpoint")) {
    // The first save was killed after its manifest and before the rename of the state file that commits it. The whole
    // checkpoint is found by its name, with one warning, and cannot have been reported.
    CHECK(after->content.id.step == 0);
    CHECK(after->warnings.size() == 1);
    CHECK(child.saved < 0);
  } else {
    for (const auto& w : after->warnings)
      FAIL_CHECK("a kill damaged a checkpoint: " << w);
  }
  const int64_t committed = after->content.id.step;
  CHECK(committed % save_every == 0);
  CHECK(committed >= committed_before);
  CHECK(committed >= child.saved);
  // The last output of a killed process may be lost, so a commit may be on the disk without a report.
  CHECK(committed <= std::max(child.reached, gate));
  CHECK(child.reached - committed <= lost_max);
  return caught;
}

void check_equal(const checkpoint_content& a, const checkpoint_content& b) {
  CHECK(a.id == b.id);
  CHECK(a.blobs == b.blobs);
  CHECK(a.properties == b.properties);
  REQUIRE(a.tensors.size() == b.tensors.size());
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    CHECK(a.tensors[i].name == b.tensors[i].name);
    CHECK_MESSAGE(a.tensors[i].value == b.tensors[i].value, a.tensors[i].name);
  }
}

TEST_CASE("killed at least 20 times, 3 of them while saving, training ends byte for byte as if nothing had been") {
  const char* chosen = std::getenv("TROUPE_KILL_SEED");
  const uint64_t seed = chosen ? std::strtoull(chosen, nullptr, 10) : 42;
  const auto began = steady_clock::now();
  const temporary_directory disk;
  const std::string broken = disk.path + "/broken", unbroken = disk.path + "/unbroken";

  trainer_process reference{{unbroken, std::to_string(max_steps)}};
  run_to_the_end(reference);

  // One kill in each section spreads the kills over the whole training.
  std::mt19937_64 random{seed};
  constexpr int64_t stretch = (max_steps - 2 * save_every) / kills_planned;
  int64_t kills = 0, while_saving = 0;
  for (; kills < kills_planned; ++kills) {
    const int64_t drawn = kills * stretch + static_cast<int64_t>(random() % stretch);
    while_saving += live_and_die(broken, seed, kills + 1, drawn, kills % 3 == 2);
  }
  // A kill may miss the save, if the save has finished before the signal; then another kill follows.
  for (; while_saving < kills_while_saving_min && kills < kills_max; ++kills)
    while_saving += live_and_die(broken, seed, kills + 1, max_steps - 2 * save_every, true);

  trainer_process last{{broken, std::to_string(max_steps)}};
  run_to_the_end(last);
  std::printf("%" PRId64 " kills, %" PRId64 " while saving; finished from step %" PRId64 "; %.1f s\n", kills,
              while_saving, last.started.value_or(-1),
              std::chrono::duration<double>(steady_clock::now() - began).count());
  CHECK(kills >= kills_min);
  CHECK(while_saving >= kills_while_saving_min);

  const auto a = newest(unbroken), b = newest(broken);
  REQUIRE_MESSAGE(a, (a ? "" : to_text(a.error())));
  REQUIRE_MESSAGE(b, (b ? "" : to_text(b.error())));
  CHECK(a->content.id.step == max_steps);
  CHECK(a->content.tensors.size() >= 3 * 4);  // Four variables, each with two slots.
  check_equal(a->content, b->content);
  CHECK(listed(broken) == listed(unbroken));
  CHECK(temporary_file(broken) == "");
  CHECK(reference.metrics.contains("accuracy"));
  CHECK(reference.metrics == last.metrics);
  for (const auto& [name, value] : last.metrics)
    std::printf("%s %s\n", name.c_str(), value.c_str());
}

}  // namespace

}  // namespace troupe
