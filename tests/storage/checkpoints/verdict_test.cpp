// Verdicts: properties that are added to a committed checkpoint, and the checkpoint that retention keeps.
#include "storage/checkpoints/checkpoint_files.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"

#include <troupe/inspect.hpp>

namespace troupe {

namespace {

std::string property(const checkpoint_store& store, int64_t step, const std::string& name) {
  const auto info = store.inspect({step});
  REQUIRE_MESSAGE(info, (info ? "" : to_text(info.error())));
  const auto found = info->properties.find(name);
  return found == info->properties.end() ? "none" : found->second;
}

}  // namespace

TEST_CASE("a verdict's properties take the place of those of the commit, for this store and for the next") {
  const auto disk = memory_disk::make();
  {
    const auto store = open_store(disk);
    commit(*store, 1);
    commit(*store, 2);
    REQUIRE(store->add_verdict({1}, {{"best", "1"}}));
    REQUIRE(store->add_verdict({1}, {{"ended", "early"}, {"finished", "true"}}));
    CHECK(store->add_verdict({3}, {{"best", "1"}}).error().category == errc::not_found);
  }
  const auto store = open_store(disk, {.read_only = true});
  CHECK(property(*store, 1, "best") == "1");
  CHECK(property(*store, 1, "ended") == "early");
  CHECK(property(*store, 1, "finished") == "true");
  CHECK(property(*store, 2, "finished") == "false");
  const auto restored = store->restore({1});
  REQUIRE(restored);
  CHECK(restored->content.properties.at("ended") == "early");
  CHECK(restored->content.tensors.size() == sample(1).tensors.size());
  CHECK(store->add_verdict({1}, {}).error().category == errc::failed_precondition);
}

TEST_CASE("a verdict is deleted with its checkpoint, and does not outlive files that are written anew") {
  const auto disk = memory_disk::make();
  const auto store = open_store(disk, {.keep_checkpoint_max = 1});
  commit(*store, 1);
  REQUIRE(store->add_verdict({1}, {{"ended", "early"}}));
  SUBCASE("retention drops it") {
    commit(*store, 2);
    CHECK_FALSE(disk->info("/m/" + verdict_name({1})));
  }
  SUBCASE("it is damaged and saved again") {
    const auto shard = "/m/" + shard_name({1}, 0, 1);
    REQUIRE(disk->remove(shard));
    CHECK(commit(*store, 1).warnings.size() == 1);
    CHECK(property(*store, 1, "ended") == "none");
  }
  SUBCASE("it is whole and saved again") {
    commit(*store, 1);
    CHECK(property(*store, 1, "ended") == "early");
  }
}

TEST_CASE("the best checkpoint stays listed beside the newest, until another one is the best") {
  const auto disk = memory_disk::make();
  const auto store = open_store(disk, {.keep_checkpoint_max = 2});
  for (int64_t step : {1, 2})
    commit(*store, step);
  store->keep(checkpoint_id{1});
  for (int64_t step : {3, 4, 5})
    commit(*store, step);
  CHECK(store->listed() == std::vector<checkpoint_id>{{1}, {4}, {5}});
  CHECK(store->restore({1}));
  store->keep(checkpoint_id{5});
  commit(*store, 6);
  CHECK(store->listed() == std::vector<checkpoint_id>{{5}, {6}});
  CHECK_FALSE(disk->info("/m/" + manifest_name({1})));
  commit(*store, 7);
  CHECK_MESSAGE((store->listed() == std::vector<checkpoint_id>{{5}, {6}, {7}}),
                "the best one does not count among the newest");
}

TEST_CASE("a crash at any file call leaves the verdict before or the one after, and the checkpoint whole") {
  for (const bool tear : {false, true})
    for (int64_t calls = 0;; ++calls) {
      const auto disk = memory_disk::make();
      {
        const auto store = open_store(disk);
        commit(*store, 1);
        REQUIRE(store->add_verdict({1}, {{"best", "before"}}));
      }
      const auto faulty = faulty_file_system::around(disk);
      auto opened = checkpoint_store::open(faulty, "/m");
      REQUIRE(opened);
      const auto before = faulty->calls();
      faulty->fail_after(before + calls, tear);
      const bool done = (*opened)->add_verdict({1}, {{"best", "after"}}).has_value();
      const bool finished = faulty->calls() - before < calls;
      opened->reset();
      disk->crash();
      const auto store = open_store(disk);
      CAPTURE(calls);
      REQUIRE(store->restore({1}));
      const auto found = property(*store, 1, "best");
      CHECK((found == "after" || (!done && found == "before")));
      CHECK(property(*store, 1, std::string{damaged_verdict_property}) == "none");
      if (finished)
        break;
    }
}

TEST_CASE("a damaged verdict is left out and told, and costs no checkpoint") {
  const auto disk = memory_disk::make();
  const auto store = open_store(disk);
  commit(*store, 1);
  REQUIRE(store->add_verdict({1}, {{"ended", "early"}}));
  REQUIRE(write_file_atomically(*disk, "/m", verdict_name({1}), "{\"half\": "));
  CHECK(property(*store, 1, "ended") == "none");
  CHECK(property(*store, 1, std::string{damaged_verdict_property}).starts_with("/m/model.ckpt-1.verdict.json: "));
  CHECK(store->restore_newest());
}

TEST_CASE("whoever restores a checkpoint whose verdict is damaged is warned, after what was skipped") {
  const auto disk = memory_disk::make();
  const auto store = open_store(disk);
  for (const int64_t step : {1, 2})
    commit(*store, step);
  REQUIRE(store->add_verdict({1}, {{"ended", "early"}}));
  CHECK(store->restore({1})->warnings.empty());
  REQUIRE(write_file_atomically(*disk, "/m", verdict_name({1}), "{\"half\": "));
  REQUIRE(write_file_atomically(*disk, "/m", manifest_name({2}), "{\"half\": "));
  const auto newest = store->restore_newest();
  REQUIRE_MESSAGE(newest, (newest ? "" : to_text(newest.error())));
  REQUIRE(newest->warnings.size() == 2);
  CHECK(newest->warnings[0].starts_with("model.ckpt-2 is passed over: "));
  CHECK(newest->warnings[1].starts_with(
      "what was found out after the commit of model.ckpt-1 is lost, such as that the job had ended there or which "
      "checkpoint is the best: /m/model.ckpt-1.verdict.json: "));
  CHECK(store->restore({1})->warnings.size() == 1);
}

}  // namespace troupe
