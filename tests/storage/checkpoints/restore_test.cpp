#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/encodings/crc32c.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

namespace troupe {

TEST_CASE("[EST-57] a step that is not there is not found by its number, nor is any in an empty directory") {
  auto store = open_store(memory_file_system());
  CHECK(store->restore_newest().error().category == errc::not_found);
  CHECK(store->restore({7}).error().category == errc::not_found);
  CHECK_FALSE(store->newest());
  CHECK(store->listed().empty());
  commit(*store, 6);
  const auto absent = store->restore({7});
  REQUIRE_FALSE(absent);
  CHECK(absent.error().category == errc::not_found);
  CHECK(has(absent.error().message, "model.ckpt-7"));
}

TEST_CASE("[EST-55] unknown fields, comments, relative and absolute paths are read") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  for (const int64_t step : {1, 2, 3})
    commit(*store, step);
  edit(*fs, "checkpoint", R"(  # by hand
model_checkpoint_path:   '/elsewhere/m/model.ckpt-2'
all_model_checkpoint_paths: "/m/model.ckpt-1"   # the first
all_model_checkpoint_paths: "model.ckpt-2" all_model_checkpoint_paths: "./model.ckpt-3"
all_model_checkpoint_timestamps: 1.5e9
last_preserved_timestamp: 0
from_the_future { a: 1 b: "x" }
)");
  CHECK(store->newest() == checkpoint_id{2});
  CHECK(store->listed() == ids({1, 2, 3}));
  CHECK(store->restore_newest()->content.id.step == 2);
}

TEST_CASE("[EST-55] a state file of garbage names no newest; what is there is found by scanning, with a warning") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  for (const int64_t step : {1, 2})
    commit(*store, step);
  for (const std::string text :
       {"{{{{ not a state file", "", "from_the_future: 1", "model_checkpoint_path: \"\"", "\x01\x02"}) {
    CAPTURE(text);
    edit(*fs, "checkpoint", text);
    CHECK_FALSE(store->newest());
    const auto restored = store->restore_newest();
    REQUIRE(restored);
    CHECK(restored->content.id.step == 2);
    REQUIRE_FALSE(restored->warnings.empty());
    CHECK(has(restored->warnings[0], "/m/checkpoint"));
  }
}

TEST_CASE(
    "[EST-55] the newest listed without its manifest is none, and the next older whole one is restored with a "
    "warning") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  for (const int64_t step : {1, 2, 3})
    commit(*store, step);
  REQUIRE(fs->remove("/m/model.ckpt-3.manifest.json"));
  CHECK_FALSE(store->newest());
  const auto restored = store->restore_newest();
  REQUIRE(restored);
  CHECK(same(restored->content, sample(2)));
  REQUIRE(restored->warnings.size() == 1);
  CHECK(has(restored->warnings[0], "/m/model.ckpt-3.manifest.json"));
}

TEST_CASE("a hand-edited state file that points to an older checkpoint is obeyed") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  for (const int64_t step : {1, 2, 3})
    commit(*store, step);
  store.reset();

  SUBCASE("with the list as it was") {
    edit(*fs, "checkpoint",
         "model_checkpoint_path: \"model.ckpt-2\"\nall_model_checkpoint_paths: \"model.ckpt-1\"\n"
         "all_model_checkpoint_paths: \"model.ckpt-2\"\nall_model_checkpoint_paths: \"model.ckpt-3\"\n");
  }
  SUBCASE("without a list") { edit(*fs, "checkpoint", "model_checkpoint_path: \"model.ckpt-2\"\n"); }
  store = open_store(fs);
  const auto restored = store->restore_newest();
  REQUIRE(restored);
  CHECK(same(restored->content, sample(2)));
  CHECK(restored->warnings.empty());
  CHECK(commit(*store, 2).warnings.empty());
  CHECK(store->newest() == checkpoint_id{2});
}

TEST_CASE("what a hand-edited state file goes back behind is never restored instead") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  for (const int64_t step : {5, 10, 15})
    commit(*store, step);
  edit(*fs, "checkpoint",
       "model_checkpoint_path: \"model.ckpt-5\"\nall_model_checkpoint_paths: "
       "\"model.ckpt-5\"\nall_model_checkpoint_paths: "
       "\"model.ckpt-10\"\n");
  REQUIRE(fs->remove("/m/model.ckpt-5-00000-of-00001.safetensors"));
  const auto restored = store->restore_newest();
  REQUIRE_FALSE(restored);
  CHECK(restored.error().category == errc::data_loss);
  CHECK(has(to_text(restored.error()), "model.ckpt-10 was not tried"));
}

TEST_CASE("when the state file is missing the newest whole checkpoint is found by scanning") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  for (const int64_t step : {9, 10})
    commit(*store, step);
  store.reset();
  REQUIRE(fs->remove("/m/checkpoint"));

  SUBCASE("the newest of all") { CHECK(open_store(fs)->restore_newest()->content.id.step == 10); }
  SUBCASE("or the newest that is whole") {
    REQUIRE(fs->remove("/m/model.ckpt-10-00000-of-00001.safetensors"));
    const auto restored = open_store(fs)->restore_newest();
    REQUIRE(restored);
    CHECK(restored->content.id.step == 9);
    CHECK(has(restored->warnings.back(), "model.ckpt-10-00000-of-00001.safetensors is missing"));
  }
  SUBCASE("and saving it again does not touch its files") {
    store = open_store(fs);
    const double before = fs->info("/m/model.ckpt-10.manifest.json")->modified;
    commit(*store, 10);
    CHECK(fs->info("/m/model.ckpt-10.manifest.json")->modified == before);
    CHECK(store->listed() == ids({9, 10}));
  }
  SUBCASE("and opening a directory of many deletes none that retention would not have listed") {
    store = open_store(fs, {.keep_checkpoint_max = 1});
    CHECK(commit(*store, 11).deleted == ids({10}));
    CHECK(store->restore({9}));
  }
}

TEST_CASE("when every listed checkpoint is damaged the error names each with its reason") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  for (const int64_t step : {1, 2})
    commit(*store, step);
  REQUIRE(fs->remove("/m/model.ckpt-1.manifest.json"));
  REQUIRE(fs->remove("/m/model.ckpt-2-00000-of-00001.safetensors"));
  const auto restored = store->restore_newest();
  REQUIRE_FALSE(restored);
  CHECK(restored.error().category == errc::data_loss);
  CHECK(has(to_text(restored.error()), "model.ckpt-1.manifest.json"));
  CHECK(has(to_text(restored.error()), "model.ckpt-2-00000-of-00001.safetensors is missing"));
}

TEST_CASE(
    "a state file that names only what is gone is refused with the names of those that lie there, and how to choose "
    "one") {
  auto fs = memory_file_system();
  auto store = open_store(fs, {.keep_checkpoint_max = 0});
  for (const int64_t step : {1, 2, 3, 4})
    commit(*store, step);
  // Leaves only a shard of step 2, and only a manifest of step 4.
  REQUIRE(fs->remove("/m/model.ckpt-2.manifest.json"));
  REQUIRE(fs->remove("/m/model.ckpt-4-00000-of-00001.safetensors"));
  edit(*fs, "checkpoint", "model_checkpoint_path: \"model.ckpt-9\"\n");
  const auto restored = store->restore_newest();
  REQUIRE_FALSE(restored);
  CHECK(restored.error().category == errc::data_loss);
  const auto text = to_text(restored.error());
  CHECK(has(text, "model.ckpt-9 is passed over"));
  CHECK(has(text, "whole, but not listed in the state file: model.ckpt-1, model.ckpt-3;"));
  CHECK(has(text, "let /m/checkpoint say model_checkpoint_path: \"model.ckpt-3\""));
  CHECK(has(text, "--step 3"));
  edit(*fs, "checkpoint", "model_checkpoint_path: \"model.ckpt-3\"\n");  // The state file decides.
  CHECK(same(store->restore_newest()->content, sample(3)));
}

TEST_CASE("what is odd about a state file is told once, by the restore or else by the first commit") {
  auto fs = memory_file_system();
  commit(*open_store(fs), 1);
  edit(*fs, "checkpoint", "model_checkpoint_path: \"model.ckpt-1\"\nall_model_checkpoint_paths: \"best\"\n");
  auto store = open_store(fs);
  SUBCASE("by the restore") {
    const auto told = store->restore_newest();
    REQUIRE(told);
    REQUIRE(told->warnings.size() == 1);
    CHECK(has(told->warnings[0], "lists \"best\""));
    CHECK(commit(*store, 2).warnings.empty());
  }
  SUBCASE("by the first commit") {
    CHECK(commit(*store, 2).warnings.size() == 1);
    CHECK(commit(*store, 3).warnings.empty());
  }
}

TEST_CASE("a state file that nests a hundred thousand deep cannot be understood, and nothing worse") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  commit(*store, 1);
  const size_t depth = 100'000;
  std::string nested = "model_checkpoint_path: \"model.ckpt-1\"\n";
  for (size_t i = 0; i < depth; ++i)
    nested += "a{";
  edit(*fs, "checkpoint", nested + std::string(depth, '}'));
  const auto restored = store->restore_newest();
  REQUIRE(restored);
  CHECK(restored->content.id.step == 1);
  CHECK(has(restored->warnings.at(0), "cannot understand the state file"));
}

TEST_CASE("a checkpoint of a later version is an error, neither passed over nor written anew") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  for (const int64_t step : {1, 2})
    commit(*store, step);
  auto text = read_file(*fs, "/m/model.ckpt-2.manifest.json").value();
  text.replace(text.find("\"format_version\": 1"), 19, "\"format_version\": 2");
  text.replace(text.size() - 12, 8, "00000000");
  text.replace(text.size() - 12, 8, crc32c_text(crc32c(text)));
  edit(*fs, "model.ckpt-2.manifest.json", text);
  CHECK(store->restore_newest().error().category == errc::unimplemented);
  CHECK(store->commit(sample(2)).error().category == errc::unimplemented);
  CHECK(read_file(*fs, "/m/model.ckpt-2.manifest.json") == text);
}

TEST_CASE("inspecting reads names, shapes, blobs and properties without a tensor") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  commit(*store, 4);
  REQUIRE(fs->remove("/m/model.ckpt-4-00000-of-00001.safetensors"));
  const auto info = store->inspect({4});
  REQUIRE(info);
  CHECK(info->id == checkpoint_id{4});
  CHECK(info->prefix == "/m/model.ckpt-4");
  CHECK(info->blobs == sample(4).blobs);
  CHECK(info->properties == sample(4).properties);
  REQUIRE(info->tensors.size() == sample(4).tensors.size());
  CHECK(info->tensors[0].name == "dense/kernel");
  CHECK(info->tensors[0].dims == shape{3, 5});
  CHECK(info->tensors[0].bytes == 60);
}

TEST_CASE(
    "the newest manifest is inspected without a tensor, the next older one where it is damaged, and none where there "
    "is none") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  CHECK(store->inspect_newest().error().category == errc::not_found);
  CHECK(checkpoint_store::open(fs, "/nowhere", {.read_only = true}).value()->inspect_newest().error().category
        == errc::not_found);
  for (const int64_t step : {1, 2, 3})
    commit(*store, step);
  REQUIRE(fs->remove("/m/model.ckpt-3-00000-of-00001.safetensors"));
  CHECK_MESSAGE(store->inspect_newest()->id == checkpoint_id{3},
                "whether its tensors are whole shows when they are read");
  CHECK(store->inspect_newest()->properties == sample(3).properties);
  edit(*fs, "model.ckpt-3.manifest.json", "{");
  CHECK(store->inspect_newest()->id == checkpoint_id{2});
  REQUIRE(fs->remove("/m/checkpoint"));
  CHECK_MESSAGE(store->inspect_newest()->id == checkpoint_id{2}, "found by a scan");
  for (const char* name : {"model.ckpt-1.manifest.json", "model.ckpt-2.manifest.json"})
    edit(*fs, name, "");
  CHECK(store->inspect_newest().error().category == errc::data_loss);
}

TEST_CASE(
    "[EST-57] differences name every variable that is missing, unexpected or of another shape or dtype, with both") {
  auto store = open_store(memory_file_system());
  REQUIRE(store->commit(
      {.id = {1}, .tensors = {{"a", numbers({2}, 0)}, {"b", numbers({2, 3}, 0)}, {"c", numbers({1}, 0)}}}));
  const auto info = store->inspect({1});
  REQUIRE(info);
  const std::vector<component> wanted{
      {"a", dtype::float32, {2}}, {"b", dtype::float32, {3, 2}}, {"d", dtype::int64, {}}, {"c", dtype::float64, {1}}};
  CHECK(differences(wanted, *info)
        == std::vector<std::string>{"b differs: the model wants float32 [3, 2], the checkpoint has float32 [2, 3]",
                                    "c differs: the model wants float64 [1], the checkpoint has float32 [1]",
                                    "d is missing: the model wants int64 []"});
  CHECK(differences(std::span{wanted}.first(1), *info)
        == std::vector<std::string>{"b is unexpected: the checkpoint has float32 [2, 3]",
                                    "c is unexpected: the checkpoint has float32 [1]"});
  const std::vector<component> same_as{
      {"a", dtype::float32, {2}}, {"b", dtype::float32, {2, 3}}, {"c", dtype::float32, {1}}};
  CHECK(differences(same_as, *info).empty());
}

}  // namespace troupe
