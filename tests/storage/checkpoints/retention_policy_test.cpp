#include "storage/checkpoints/retention_policy.hpp"

#include "storage/checkpoints/state_file.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

namespace troupe {

namespace {

constexpr double start = 1.6e9;

struct outcome {
  std::vector<checkpoint_id> listed;
  std::vector<checkpoint_id> deleted;
  std::set<checkpoint_id> preserved;
  friend bool operator==(const outcome&, const outcome&) = default;
};

/// Saves successive steps, the n-th at `minutes[n]`, each with the retention state of the save before.
outcome save_all(const retention_policy& policy, const std::vector<double>& minutes) {
  retention_decision now;
  outcome all;
  for (size_t i = 0; i < minutes.size(); ++i) {
    now.listed.push_back({static_cast<int64_t>(i)});
    now = decide_retention(policy, std::move(now.listed), std::move(now.retention), start + 60 * minutes[i]);
    all.deleted.insert(all.deleted.end(), now.deleted.begin(), now.deleted.end());
  }
  all.listed = now.listed;
  all.preserved = now.retention.preserved;
  return all;
}

checkpoint_content sample_at(int64_t step, double minutes) {
  auto content = sample(step);
  content.wall_time = start + 60 * minutes;
  return content;
}

const checkpoint_store_options hourly{.keep_checkpoint_max = 2, .keep_checkpoint_every_n_hours = 1};

}  // namespace

TEST_CASE("[EST-53] of saves at 0:00, 0:30, 1:10, 1:20 and 1:30 the one of 1:10 is kept when it leaves the list") {
  CHECK(save_all({2, 1}, {0, 30, 70, 80}) == outcome{ids({2, 3}), ids({0, 1}), {}});
  CHECK(save_all({2, 1}, {0, 30, 70, 80, 90}) == outcome{ids({3, 4}), ids({0, 1}), {{2}}});
}

TEST_CASE("one of every hour is preserved, counted from the one before, and saves an hour apart all are") {
  CHECK(save_all({1, 1}, {0, 59, 60, 61, 119, 120, 500}) == outcome{ids({6}), ids({0, 1, 3, 4}), {{2}, {5}}});
  CHECK(save_all({1, 1}, {0, 60, 120, 180}) == outcome{ids({3}), ids({0}), {{1}, {2}}});
}

TEST_CASE("a policy that keeps all checkpoints marks none and deletes none") {
  CHECK(save_all({0, 1}, {0, 60, 120}) == outcome{ids({0, 1, 2}), {}, {}});
}

TEST_CASE("a clock that went back does not put the next mark off by as much") {
  retention_state retention{.saved_at = {{{1}, start}}, .last_preserved = start + 1e6};
  auto next = decide_retention({1, 1}, ids({1, 2}), retention, start + 60);
  CHECK(next.retention.last_preserved == start + 60);
  CHECK(next.deleted == ids({1}));
}

TEST_CASE("a step whose time nobody knows is deleted") {
  CHECK(decide_retention({1, 1}, ids({1, 2}), {.last_preserved = 0}, start).deleted == ids({1}));
}

TEST_CASE("times and preserved steps come back from the state file as they went in") {
  const retention_state retention{
      .saved_at = {{{5}, start + 0.1}, {{1200}, start + 1.0 / 3}}, .preserved = {{1}, {5}}, .last_preserved = start};
  const auto text = write_state_file(ids({5, 1200}), retention);
  CHECK(has(text, "all_model_checkpoint_timestamps: 1600000000.1\n"));
  CHECK(has(text, "last_preserved_timestamp: 1600000000\n# preserved: model.ckpt-1\n# preserved: model.ckpt-5\n"));
  const auto read = parse_state_file(text, "f");
  REQUIRE(read);
  CHECK(read->retention == retention);
  CHECK(read->ids == ids({5, 1200}));
}

TEST_CASE("times of another number than the paths are no times") {
  const auto read = parse_state_file(
      "model_checkpoint_path: \"model.ckpt-3\" all_model_checkpoint_paths: \"model.ckpt-1\" "
      "all_model_checkpoint_paths: \"model.ckpt-3\" all_model_checkpoint_timestamps: 7",
      "f");
  REQUIRE(read);
  CHECK(read->retention.saved_at.empty());
  CHECK_FALSE(read->retention.last_preserved);
}

TEST_CASE("[EST-53] a preserved checkpoint leaves the list and stays, over restarts, and is never written anew") {
  auto fs = memory_file_system();
  const std::vector<double> minutes{0, 30, 70, 80, 90, 100};
  for (size_t i = 0; i < minutes.size(); ++i)
    // A restart precedes each save.
    REQUIRE(open_store(fs, hourly)->commit(sample_at(static_cast<int64_t>(i), minutes[i])));
  auto store = open_store(fs, hourly);
  CHECK(store->listed() == ids({4, 5}));
  CHECK(same(store->restore({2})->content, sample(2)));
  for (const int64_t gone : {0, 1, 3})
    CHECK(store->restore({gone}).error().category == errc::not_found);
  CHECK(store->inspect({2})->wall_time == start + 60 * 70);

  const double before = fs->info("/m/model.ckpt-2.manifest.json")->modified;
  auto other = sample_at(2, 110);
  other.tensors[0].value = numbers({3, 5}, 99);
  const auto again = store->commit(other);
  REQUIRE(again);
  REQUIRE(again->warnings.size() == 1);
  CHECK(has(again->warnings[0], "another value of dense/kernel"));
  for (int64_t step = 6; step < 9; ++step)
    REQUIRE(store->commit(sample_at(step, 111 + static_cast<double>(step))));
  CHECK(store->listed() == ids({7, 8}));
  CHECK(fs->info("/m/model.ckpt-2.manifest.json")->modified == before);
}

TEST_CASE("a list without times, as an earlier version wrote it, is judged by the times of its files") {
  auto fs = memory_file_system();
  auto store = open_store(fs, hourly);
  for (const int64_t step : {1, 2})
    commit(*store, step);
  store.reset();
  edit(*fs, "checkpoint", write_state_file(ids({1, 2})));
  store = open_store(fs, hourly);
  CHECK(store->commit(sample_at(3, 0))->deleted == ids({1}));
  const auto state = parse_state_file(*read_file(*fs, "/m/checkpoint"), "f");
  CHECK(state->retention.saved_at.at({2}) == fs->info("/m/model.ckpt-2.manifest.json")->modified);
}

TEST_CASE("a distance of no hours is refused") {
  for (const double hours : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
    CHECK(checkpoint_store::open(memory_file_system(), "/m", {.keep_checkpoint_every_n_hours = hours}).error().category
          == errc::invalid_argument);
}

}  // namespace troupe
