// When a search begins an iteration, it commits the grown state at the step of the last commit. So two checkpoints of
// one step but of different iterations are different checkpoints.
#include "storage/checkpoints/checkpoint_files.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/checkpoints/state_file.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

namespace troupe {

namespace {

constexpr checkpoint_id first{7, 0}, grown{7, 1};
constexpr auto grown_shard = "/m/model.ckpt-7-iteration-1-00000-of-00001.safetensors";

using list = std::vector<checkpoint_id>;

/// A store that has committed `first`, then `grown`.
std::unique_ptr<checkpoint_store> grown_store(const std::shared_ptr<file_system>& fs,
                                              checkpoint_store_options options = {}) {
  auto store = open_store(fs, options);
  commit(*store, 7);
  commit(*store, 7, 1);
  return store;
}

}  // namespace

TEST_CASE("the files of two iterations of one step are told apart by their names") {
  CHECK(checkpoint_name(first) == "model.ckpt-7");
  CHECK(checkpoint_name(grown) == "model.ckpt-7-iteration-1");
  CHECK(manifest_name(grown) == "model.ckpt-7-iteration-1.manifest.json");
  CHECK(shard_name(grown, 2, 3) == "model.ckpt-7-iteration-1-00002-of-00003.safetensors");
  for (const auto id : {first, grown}) {
    CHECK(id_of_checkpoint("/m/" + checkpoint_name(id)) == id);
    CHECK(id_of_manifest(manifest_name(id)) == id);
    CHECK(id_of_shard(shard_name(id, 2, 3)) == id);
    CHECK(is_temporary(manifest_name(id) + ".tmp"));
    CHECK(is_temporary(shard_name(id, 2, 3) + ".tmp"));
  }
  for (const char* name :
       {"model.ckpt-7-iteration-1", "model.ckpt-7-iteration-0.manifest.json", "model.ckpt-7-iteration-1-00002-of-00003",
        "model.ckpt-7-00002-of-00003-iteration-1.safetensors", "model.ckpt-7-iteration.safetensors"}) {
    CAPTURE(name);
    CHECK_FALSE(id_of_manifest(name));
    CHECK_FALSE(id_of_shard(name));
  }
}

TEST_CASE("the same step of a later iteration is another checkpoint, and the newest, on every file system") {
  const temporary_directory disk;
  for (const auto& [fs, directory] :
       {std::pair{memory_file_system(), std::string{"/m"}}, std::pair{posix_file_system(), disk.path + "/m"}}) {
    auto store = open_store(fs, {}, directory);
    commit(*store, 5);
    commit(*store, 7);
    const double before = fs->info(directory + "/model.ckpt-7.manifest.json")->modified;
    const auto done = commit(*store, 7, 1);
    CHECK(done.prefix == directory + "/model.ckpt-7-iteration-1");
    CHECK_MESSAGE(done.warnings.empty(), "the values of another iteration are no contradiction");
    CHECK(fs->info(directory + "/model.ckpt-7.manifest.json")->modified == before);
    CHECK(store->listed() == list{{5}, first, grown});
    CHECK(store->newest() == grown);
    CHECK(same(store->restore_newest()->content, sample(7, 1)));
    CHECK(same(store->restore(first)->content, sample(7)));
    CHECK(same(store->restore(grown)->content, sample(7, 1)));
    CHECK(store->inspect(grown)->id == grown);
    store.reset();
    store = open_store(fs, {}, directory);
    CHECK(same(store->restore_newest()->content, sample(7, 1)));
  }
}

TEST_CASE("only the manifest of an iteration above 0 has one, and it must be that of the name") {
  auto fs = memory_file_system();
  grown_store(fs);
  CHECK_FALSE(has(*read_file(*fs, "/m/model.ckpt-7.manifest.json"), "iteration"));
  const auto text = *read_file(*fs, "/m/model.ckpt-7-iteration-1.manifest.json");
  CHECK(has(text, " \"step\": 7,\n \"iteration\": 1,\n"));
  CHECK(parse_manifest(text, "f", grown)->id == grown);
  const auto other = parse_manifest(text, "f", first);
  CHECK(other.error() == error{errc::data_loss, "f: it is that of step 7-iteration-1"});
}

TEST_CASE("an iteration below 0 is refused by its number") {
  const auto refused = open_store(memory_file_system())->commit({.id = {3, -1}});
  CHECK(refused.error() == error{errc::invalid_argument, "a checkpoint cannot have the iteration -1"});
}

TEST_CASE("a step names the checkpoint of it that is newest by the list, and by iteration if none is listed") {
  auto fs = memory_file_system();
  auto store = grown_store(fs);
  commit(*store, 9, 1);
  CHECK(store->restore_step(7)->content.id == grown);
  CHECK(store->restore_step(9)->content.id == checkpoint_id{9, 1});
  CHECK(store->restore_step(8).error().category == errc::not_found);
  SUBCASE("a list in another order is obeyed") {
    edit(*fs, "checkpoint", write_state_file({grown, first, {9, 1}}));
    CHECK(store->restore_step(7)->content.id == first);
  }
  SUBCASE("the one that the file names as the newest is the newest, wherever it is listed") {
    edit(*fs, "checkpoint",
         "model_checkpoint_path: \"model.ckpt-7\" all_model_checkpoint_paths: \"model.ckpt-7\" "
         "all_model_checkpoint_paths: \"model.ckpt-7-iteration-1\"");
    CHECK(store->restore_step(7)->content.id == first);
  }
  SUBCASE("a listed one precedes those that are not") {
    edit(*fs, "checkpoint", write_state_file({first, {9, 1}}));
    CHECK(store->restore_step(7)->content.id == first);
  }
  SUBCASE("without a state file") {
    REQUIRE(fs->remove("/m/checkpoint"));
    CHECK(store->restore_step(7)->content.id == grown);
  }
  SUBCASE("a damaged one is an error, and no other takes its place") {
    REQUIRE(fs->remove(grown_shard));
    const auto damaged = store->restore_step(7);
    CHECK(damaged.error().category == errc::data_loss);
    CHECK(has(damaged.error().message, grown_shard));
    CHECK(store->restore(first));
  }
}

TEST_CASE("where the newest of two at one step is damaged, the older one of the step is next") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  commit(*store, 5);
  commit(*store, 7);
  commit(*store, 7, 1);
  REQUIRE(fs->remove(grown_shard));
  const auto restored = store->restore_newest();
  REQUIRE(restored);
  CHECK(same(restored->content, sample(7)));
  REQUIRE(restored->warnings.size() == 1);
  CHECK(has(restored->warnings[0], "model.ckpt-7-iteration-1 is passed over"));
  REQUIRE(fs->remove("/m/model.ckpt-7.manifest.json"));
  CHECK(same(store->restore_newest()->content, sample(5)));
}

TEST_CASE("a state file that goes back behind a growth is obeyed, and nothing grown is restored instead") {
  auto fs = memory_file_system();
  auto store = grown_store(fs);
  commit(*store, 9, 1);
  store.reset();
  edit(*fs, "checkpoint",
       "model_checkpoint_path: \"model.ckpt-7\" all_model_checkpoint_paths: \"model.ckpt-7\" "
       "all_model_checkpoint_paths: \"model.ckpt-7-iteration-1\" all_model_checkpoint_paths: "
       "\"model.ckpt-9-iteration-1\"");
  store = open_store(fs);
  CHECK(same(store->restore_newest()->content, sample(7)));
  commit(*store, 7);  // Lists it after the others.
  CHECK(store->listed() == list{grown, {9, 1}, first});
  CHECK(store->newest() == first);
  REQUIRE(fs->remove("/m/model.ckpt-7-00000-of-00001.safetensors"));
  const auto restored = store->restore_newest();
  REQUIRE_FALSE(restored);
  CHECK(restored.error().category == errc::data_loss);
  CHECK(has(to_text(restored.error()), "model.ckpt-7-iteration-1 was not tried"));
  CHECK(has(to_text(restored.error()), "model.ckpt-9-iteration-1 was not tried"));
}

TEST_CASE("without a state file a later iteration is newer, whatever its step") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  commit(*store, 12);
  commit(*store, 10, 1);
  commit(*store, 7, 1);
  store.reset();
  REQUIRE(fs->remove("/m/checkpoint"));
  store = open_store(fs);
  CHECK(store->restore_newest()->content.id == checkpoint_id{10, 1});
  REQUIRE(fs->remove("/m/model.ckpt-10-iteration-1-00000-of-00001.safetensors"));
  CHECK(store->restore_newest()->content.id == checkpoint_id{7, 1});
  REQUIRE(fs->remove("/m/model.ckpt-7-iteration-1-00000-of-00001.safetensors"));
  CHECK(store->restore_newest()->content.id == checkpoint_id{12});
}

TEST_CASE("retention, leases and deletions touch one iteration of a step and not the other") {
  auto fs = memory_file_system();
  SUBCASE("retention drops the older one") {
    auto store = grown_store(fs, {.keep_checkpoint_max = 1});
    CHECK(store->listed() == list{grown});
    CHECK(*ids_with_files(*fs, "/m") == std::set<checkpoint_id>{grown});
    CHECK(same(store->restore(grown)->content, sample(7, 1)));
  }
  SUBCASE("a lease keeps the older one") {
    auto store = open_store(fs, {.keep_checkpoint_max = 1});
    commit(*store, 7);
    store->lease(first);
    CHECK(commit(*store, 7, 1).held == list{first});
    CHECK(has(*read_file(*fs, "/m/checkpoint"), "# doomed: model.ckpt-7 "));
    CHECK(store->release(grown).error().category == errc::state);
    REQUIRE(store->release(first));
    CHECK(*ids_with_files(*fs, "/m") == std::set<checkpoint_id>{grown});
  }
  SUBCASE("a doomed iteration is deleted by the next owner, after a reader has kept it") {
    auto store = open_store(fs, {.keep_checkpoint_max = 1});
    commit(*store, 7, 1);
    auto reading = store->restore(grown);
    CHECK(commit(*store, 7, 2).held == list{grown});
    store.reset();
    reading->lease.reset();
    store = open_store(fs, {.keep_checkpoint_max = 1});
    CHECK(*ids_with_files(*fs, "/m") == std::set<checkpoint_id>{{7, 2}});
  }
  SUBCASE("a preserved iteration stays") {
    auto store = open_store(fs, {.keep_checkpoint_max = 1, .keep_checkpoint_every_n_hours = 1});
    commit(*store, 5);
    commit(*store, 7, 1);
    commit(*store, 9, 2);
    commit(*store, 11, 2);
    CHECK(has(*read_file(*fs, "/m/checkpoint"), "# preserved: model.ckpt-7-iteration-1\n"));
    CHECK(same(store->restore(grown)->content, sample(7, 1)));
  }
  SUBCASE("a deletion by request") {
    auto store = grown_store(fs);
    CHECK(store->remove(list{grown}, false).error().category == errc::failed_precondition);
    CHECK(store->remove(list{first}, false)->deleted == list{first});
    CHECK(store->listed() == list{grown});
    CHECK(same(store->restore_newest()->content, sample(7, 1)));
    CHECK(store->remove(list{{7, 2}}, false).error()
          == error{errc::not_found, "/m has no checkpoint of step 7-iteration-2"});
  }
}

TEST_CASE("saving an iteration of a step again verifies that one, and touches none of its files") {
  auto fs = memory_file_system();
  auto store = grown_store(fs);
  const double before = fs->info(grown_shard)->modified;
  CHECK(commit(*store, 7, 1).warnings.empty());
  CHECK(fs->info(grown_shard)->modified == before);
  auto other = sample(7, 1);
  other.tensors[2].value = tensor::of<double>({2}, {7, 7});
  const auto again = store->commit(other);
  REQUIRE(again);
  REQUIRE(again->warnings.size() == 1);
  CHECK(has(again->warnings[0], "model.ckpt-7-iteration-1 was committed before with another value of dense/bias"));
}

TEST_CASE(
    "a call that fails once while a grown state is saved leaves the old one or the new one, and the save succeeds when "
    "repeated") {
  int64_t points = 0;
  for (const int max : {1, 3})
    for (int64_t nth = 1;; ++nth, ++points) {
      CAPTURE(max);
      CAPTURE(nth);
      auto disk = memory_disk::make();
      auto faulty = faulty_file_system::around(disk);
      auto store = open_store(faulty, {.keep_checkpoint_max = max, .shard_bytes_max = 64});
      commit(*store, 7);
      const auto calls = faulty->calls();
      faulty->inject({.nth = nth, .category = errc::unavailable, .reason = "input/output error"});
      const bool reported = store->commit(sample(7, 1)).has_value();
      const bool reached = faulty->calls() - calls >= nth;
      faulty->heal();
      auto restored = store->restore_newest();
      REQUIRE(restored);
      restored->lease.reset();
      CHECK(restored->warnings.empty());
      const auto id = restored->content.id;
      CHECK((id == grown || (id == first && !reported)));
      CHECK(same(restored->content, sample(7, id.iteration)));
      commit(*store, 7, 1);
      CHECK(same(store->restore_newest()->content, sample(7, 1)));
      CHECK(store->listed() == (max == 1 ? list{grown} : list{first, grown}));
      if (!reached)
        break;
    }
  CHECK(points > 20);
}

}  // namespace troupe
