// Checkpoints that are deleted by request: the state file changes first, so that it never lists a deleted one.
#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/checkpoints/state_file.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

namespace troupe {

namespace {

expected<commit_result> remove(checkpoint_store& store, const steps& which, bool newest_too = false) {
  return store.remove(ids(which), newest_too);
}

}  // namespace

TEST_CASE("steps leave the list before their files go, manifests first") {
  auto fs = faulty_file_system::around(memory_file_system());
  auto store = open_store(fs);
  for (const int64_t step : {1, 2, 3})
    commit(*store, step);
  const auto before = fs->trace().size();
  CHECK(remove(*store, {1, 2})->deleted == ids({1, 2}));
  CHECK(store->listed() == ids({3}));
  std::vector<std::string> changes;
  for (size_t i = before; i < fs->trace().size(); ++i)
    if (fs->trace()[i].starts_with("rename") || fs->trace()[i].starts_with("remove"))
      changes.push_back(fs->trace()[i]);
  CHECK(changes
        == std::vector<std::string>{"rename /m/checkpoint.tmp to /m/checkpoint", "remove /m/model.ckpt-1.manifest.json",
                                    "remove /m/model.ckpt-1-00000-of-00001.safetensors",
                                    "remove /m/model.ckpt-2.manifest.json",
                                    "remove /m/model.ckpt-2-00000-of-00001.safetensors"});
}

TEST_CASE("the newest is refused unless it is asked for, and the one before it is then the newest") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  for (const int64_t step : {1, 2})
    commit(*store, step);
  CHECK(remove(*store, {1, 2}).error().category == errc::failed_precondition);
  CHECK(store->listed() == ids({1, 2}));
  CHECK(same(store->restore({1})->content, sample(1)));
  CHECK(remove(*store, {2}, true)->deleted == ids({2}));
  CHECK(store->newest() == checkpoint_id{1});
  SUBCASE("the last one takes the state file with it: a job begins anew") {
    CHECK(remove(*store, {1}, true)->deleted == ids({1}));
    CHECK(names_in(*fs) == std::vector<std::string>{});
    store.reset();
    CHECK(open_store(fs)->restore_newest().error().category == errc::not_found);
  }
}

TEST_CASE("a step that is not there is named, and nothing is deleted") {
  auto store = open_store(memory_file_system());
  for (const int64_t step : {1, 2})
    commit(*store, step);
  const auto refused = remove(*store, {1, 7});
  CHECK(refused.error().category == errc::not_found);
  CHECK(has(refused.error().message, "step 7"));
  CHECK(store->listed() == ids({1, 2}));
  CHECK(open_store(memory_file_system(), {.read_only = true})->remove(ids({1}), false).error().category
        == errc::failed_precondition);
}

TEST_CASE("what is preserved, not listed, or listed without files can be deleted too") {
  auto fs = memory_file_system();
  auto store = open_store(fs, {.keep_checkpoint_max = 1, .keep_checkpoint_every_n_hours = 1});
  for (const int64_t step : {1, 2, 3})
    commit(*store, step);
  REQUIRE(store->restore({2}));
  CHECK(remove(*store, {2})->deleted == ids({2}));
  CHECK(parse_state_file(*read_file(*fs, "/m/checkpoint"), "f")->retention.preserved.empty());
  store.reset();
  edit(*fs, "checkpoint", write_state_file(ids({8, 3})));
  store = open_store(fs);
  CHECK(remove(*store, {8})->deleted == ids({8}));
  CHECK(store->listed() == ids({3}));
}

TEST_CASE("what somebody reads leaves the list and stays until the next time") {
  auto store = open_store(memory_file_system());
  for (const int64_t step : {1, 2})
    commit(*store, step);
  auto reading = store->restore({1});
  const auto first = remove(*store, {1});
  CHECK(first->held == ids({1}));
  CHECK(first->deleted.empty());
  CHECK(store->listed() == ids({2}));
  CHECK(same(store->restore({1})->content, sample(1)));
  reading->lease.reset();
  CHECK(remove(*store, {1})->deleted == ids({1}));
}

TEST_CASE("after a crash at any call of a deletion the list names nothing that is gone") {
  int64_t points = 0;
  for (bool finished = false; !finished; ++points) {
    auto disk = memory_disk::make();
    auto faulty = faulty_file_system::around(disk);
    for (const int64_t step : {1, 2, 3})
      commit(*open_store(disk, {.shard_bytes_max = 64}), step);
    faulty->fail_after(points);
    if (auto store = checkpoint_store::open(faulty, "/m"))
      static_cast<void>((*store)->remove(ids({2, 3}), true));
    finished = faulty->calls() < points;
    disk->crash({.torn_tails = true, .entries_may_survive = true, .seed = static_cast<uint64_t>(points)});
    CAPTURE(points);
    auto store = open_store(disk);
    const auto newest = store->restore_newest();
    REQUIRE_MESSAGE(newest, (newest ? "" : to_text(newest.error())));
    CHECK(newest->warnings.empty());
    for (const auto id : store->listed())
      CHECK(same(store->restore(id)->content, sample(id.step)));
    CHECK((store->listed() == ids({1}) || store->listed() == ids({1, 2, 3})));
  }
  CHECK(points > 15);
}

}  // namespace troupe
