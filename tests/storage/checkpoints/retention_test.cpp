#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/checkpoints/judged.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

namespace troupe {

namespace {

bool there(file_system& fs, int64_t step) {
  const auto names = names_in(fs);
  return std::any_of(names.begin(), names.end(), [&](const auto& n) {
    return n.starts_with("model.ckpt-" + std::to_string(step) + ".")
           || n.starts_with("model.ckpt-" + std::to_string(step) + "-");
  });
}

}  // namespace

TEST_CASE(
    "[EST-50] after 7 saves with keep 5 the state file lists the last five oldest first, and the first two are gone") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  for (const int64_t step : {1, 2, 3, 4, 5})
    CHECK(commit(*store, step).deleted.empty());
  CHECK(commit(*store, 6).deleted == ids({1}));
  CHECK(commit(*store, 7).deleted == ids({2}));
  CHECK(store->listed() == ids({3, 4, 5, 6, 7}));
  std::string first_lines = "model_checkpoint_path: \"model.ckpt-7\"\n";
  for (const char* step : {"3", "4", "5", "6", "7"})
    first_lines += "all_model_checkpoint_paths: \"model.ckpt-" + std::string{step} + "\"\n";
  const auto state = *read_file(*fs, "/m/checkpoint");
  CHECK(state.starts_with(first_lines));
  CHECK_FALSE(has(state.substr(first_lines.size()), "_path"));
  for (const int64_t step : {1, 2})
    CHECK_FALSE(there(*fs, step));
  for (const int64_t step : {3, 4, 5, 6, 7})
    CHECK(same(store->restore({step})->content, sample(step)));
}

TEST_CASE("[EST-51] with keep 0 nothing is deleted, and the list has all, so that a damaged newest one hides none") {
  auto disk = memory_disk::make();
  auto store = open_store(disk, {.keep_checkpoint_max = 0});
  for (const int64_t step : {1, 2, 3, 4, 5})
    CHECK(commit(*store, step).deleted.empty());
  CHECK(store->listed() == ids({1, 2, 3, 4, 5}));
  for (const int64_t step : {1, 2, 3, 4, 5})
    CHECK(store->restore({step}));
  disk->overwrite("/m/model.ckpt-5-00000-of-00001.safetensors", "rotten");
  const auto restored = store->restore_newest();
  REQUIRE_MESSAGE(restored, (restored ? "" : to_text(restored.error())));
  CHECK(same(restored->content, sample(4)));
  store.reset();
  REQUIRE(disk->remove("/m/checkpoint"));
  store = open_store(disk, {.keep_checkpoint_max = 0});
  commit(*store, 6);
  CHECK(store->listed() == ids({1, 2, 3, 4, 6}));
}

TEST_CASE("[SUP-8] after a restart with 5 listed and one more save the oldest listed is deleted") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  for (const int64_t step : {1, 2, 3, 4, 5})
    commit(*store, step);
  store.reset();
  store = open_store(fs);
  CHECK(commit(*store, 6).deleted == ids({1}));
  CHECK_FALSE(there(*fs, 1));
}

TEST_CASE("a list recovered longer than the limit shrinks to it at once, oldest first") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  for (const int64_t step : {1, 2, 3, 4, 5})
    commit(*store, step);
  store.reset();
  store = open_store(fs, {.keep_checkpoint_max = 2});
  CHECK(commit(*store, 6).deleted == ids({1, 2, 3, 4}));
  CHECK(store->listed() == ids({5, 6}));
}

TEST_CASE("[EST-86] a leased checkpoint is never deleted, and goes when the last lease is released") {
  auto fs = memory_file_system();
  auto store = open_store(fs, {.keep_checkpoint_max = 1});
  commit(*store, 1);
  store->lease({1});
  store->lease({1});
  CHECK(commit(*store, 2).deleted.empty());
  CHECK(store->listed() == ids({2}));
  CHECK(same(store->restore({1})->content, sample(1)));
  REQUIRE(store->release({1}));
  CHECK(there(*fs, 1));

  SUBCASE("at the release") {
    REQUIRE(store->release({1}));
    CHECK_FALSE(there(*fs, 1));
    CHECK(store->release({1}).error().category == errc::state);
  }
  SUBCASE("unless it was saved again meanwhile: then it is listed again, its files untouched") {
    const double before = fs->info("/m/model.ckpt-1.manifest.json")->modified;
    CHECK(commit(*store, 1).deleted == ids({2}));
    CHECK(fs->info("/m/model.ckpt-1.manifest.json")->modified == before);
    REQUIRE(store->release({1}));
    CHECK(there(*fs, 1));
  }
}

TEST_CASE(
    "a checkpoint that turns out to be the best while it is read, and after it was dropped, is listed again and "
    "outlives its lease") {
  auto fs = memory_file_system();
  auto store = open_store(fs, {.keep_checkpoint_max = 1});
  commit(*store, 1);
  REQUIRE(store->keep(checkpoint_id{1}));
  for (const int64_t step : {2, 3}) {
    commit(*store, step);
    store->lease({step});
  }
  commit(*store, 4);
  CHECK(store->listed() == ids({1, 4}));
  REQUIRE(store->keep(checkpoint_id{2}));
  CHECK(store->listed() == ids({1, 2, 4}));
  REQUIRE(store->release({2}));
  REQUIRE(store->release({3}));
  CHECK(same(store->restore({2})->content, sample(2)));
  CHECK_FALSE(there(*fs, 3));
  SUBCASE("also after the next commit, which drops the best one before") {
    CHECK(commit(*store, 5).deleted == ids({1, 4}));
    CHECK(store->listed() == ids({2, 5}));
  }
  SUBCASE("also for the next owner") {
    store.reset();
    store = open_store(fs, {.keep_checkpoint_max = 1});
    CHECK(same(store->restore({2})->content, sample(2)));
    CHECK(store->listed() == ids({1, 2, 4}));
  }
}

TEST_CASE("a lease may be taken before there is anything to hold") {
  auto fs = memory_file_system();
  auto store = open_store(fs, {.keep_checkpoint_max = 1});
  store->lease({1});
  CHECK(commit(*store, 1).warnings.empty());
  CHECK(commit(*store, 2).deleted.empty());
  REQUIRE(store->release({1}));
  CHECK_FALSE(there(*fs, 1));
}

TEST_CASE("a checkpoint that could not be deleted is a warning, and goes at the next commit") {
  auto fs = faulty_file_system::around(memory_file_system());
  auto store = open_store(fs, {.keep_checkpoint_max = 1});
  commit(*store, 1);
  fs->inject(
      {.operation = file_operation::remove, .category = errc::failed_precondition, .reason = "permission denied"});
  const auto second = commit(*store, 2);
  CHECK(second.deleted.empty());
  REQUIRE(second.warnings.size() == 1);
  CHECK(has(second.warnings[0], "model.ckpt-1"));
  CHECK(commit(*store, 3).deleted == ids({1, 2}));
  CHECK_FALSE(there(*fs, 1));
}

TEST_CASE("opening removes a dead writer's temporary files and headless shards, and nobody else's files") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  for (const int64_t step : {1, 2})
    commit(*store, step);
  store.reset();
  // The checkpoint is listed, so it must not be deleted though it is damaged.
  REQUIRE(fs->remove("/m/model.ckpt-2.manifest.json"));
  const std::vector<std::string> strangers{"notes.tmp", "model.ckpt-1.index",
                                           "model.ckpt-01-00000-of-00001.safetensors", "export.safetensors"};
  const std::vector<std::string> remains{"checkpoint.tmp", "model.ckpt-9.manifest.json.tmp",
                                         "model.ckpt-9-00000-of-00002.safetensors",
                                         "model.ckpt-9-00001-of-00002.safetensors.tmp"};
  const auto before = names_in(*fs);
  for (const auto& list : {strangers, remains})
    for (const auto& name : list)
      REQUIRE(fs->create("/m/" + name));

  auto wanted = before;
  wanted.insert(wanted.end(), strangers.begin(), strangers.end());
  std::sort(wanted.begin(), wanted.end());
  const auto crowded = names_in(*fs);
  open_store(fs, {.read_only = true});
  CHECK(names_in(*fs) == crowded);
  open_store(fs);
  CHECK(names_in(*fs) == wanted);
}

TEST_CASE(
    "what an evaluator has named the best outlives the list until the books name it, but not a person's removal") {
  const auto fs = faulty_file_system::around(memory_file_system());
  auto store = open_store(fs, {.keep_checkpoint_max = 1});
  commit(*store, 1);
  const auto meant = judged_checkpoint_of(*fs, "/m", {1});
  REQUIRE(meant);
  REQUIRE(write_judged(*fs, "/m", {.best = judged::best_so_far{*meant, 0.5}}));
  commit(*store, 2);
  CHECK(store->listed() == ids({2}));
  CHECK(there(*fs, 1));
  SUBCASE("the books name it") {
    REQUIRE(store->keep(checkpoint_id{1}));
    CHECK(store->listed() == ids({1, 2}));
    commit(*store, 3);
    CHECK(store->listed() == ids({1, 3}));
    CHECK_FALSE(there(*fs, 2));
  }
  SUBCASE("another one is better") {
    REQUIRE(write_judged(*fs, "/m", {.best = judged::best_so_far{{{2}, 1}, 0.25}}));
    commit(*store, 3);
    CHECK_FALSE(there(*fs, 1));
    CHECK_MESSAGE(!there(*fs, 2), "the directory has another checkpoint of that step");
  }
  SUBCASE("a person removes another one") {
    commit(*store, 3);
    commit(*store, 4);
    const checkpoint_id newest{4};
    REQUIRE(store->remove({&newest, 1}, true));
    CHECK(there(*fs, 1));
    CHECK_FALSE(there(*fs, 4));
  }
  SUBCASE("a person removes it") {
    const checkpoint_id one{1};
    REQUIRE(store->remove({&one, 1}, false));
    CHECK_FALSE(there(*fs, 1));
  }
  SUBCASE("a file that is damaged names none") {
    REQUIRE(write_file_atomically(*fs, "/m", "judged.json", "{"));
    commit(*store, 3);
    CHECK_FALSE(there(*fs, 1));
  }
  SUBCASE("a file that cannot be read may name any, until it can be") {
    REQUIRE(write_judged(*fs, "/m", {}));
    fs->inject({.category = errc::unavailable,
                .reason = "input/output error",
                .path_contains = "judged.json",
                .for_ever = true});
    commit(*store, 3);
    CHECK(there(*fs, 1));
    CHECK(there(*fs, 2));
    fs->heal();
    CHECK(commit(*store, 4).deleted == ids({1, 2, 3}));
  }
  SUBCASE("a lease that ends does not delete it") {
    store->lease({1});
    REQUIRE(store->release({1}));
    CHECK(there(*fs, 1));
  }
}

}  // namespace troupe
