// TensorFlow's checkpoints and model directories, as `troupe inspect` shows them.
#include "storage/examination/examination.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

namespace troupe {

namespace {

const std::string golden = std::string{TROUPE_GOLDEN_DIR} + "/tensorflow-v2";

checkpoint_description examined(file_system& fs, const std::string& prefix, const inspect_options& options = {}) {
  auto description = examine_tensorflow(fs, prefix, options);
  REQUIRE_MESSAGE(description, (description ? "" : to_text(description.error())));
  return std::move(*description);
}

std::shared_ptr<memory_disk> copied(const std::string& from, const std::string& to) {
  auto disk = memory_disk::make();
  REQUIRE(disk->create_directories(to));
  const auto posix = posix_file_system();
  const auto files = posix->list(from);
  REQUIRE(files);
  for (const auto& f : *files)
    if (!f.directory)
      REQUIRE(write_file_atomically(*disk, to, f.name, read_file(*posix, from + "/" + f.name).value()));
  return disk;
}

}  // namespace

TEST_CASE("an Estimator's model directory is shown with its checkpoints, whole and not as damaged ones of ours") {
  const auto description = examine_directory(*posix_file_system(), golden + "/estimator", {.verify = true});
  REQUIRE_MESSAGE(description, (description ? "" : to_text(description.error())));
  REQUIRE(description->checkpoints.size() == 2);
  CHECK(description->newest == checkpoint_id{6});
  for (const auto& c : description->checkpoints) {
    CHECK(c.foreign);
    CHECK(c.listed);
    CHECK(c.damages.empty());
    CHECK_FALSE(c.unfinished);
    CHECK(c.bytes > 0);
  }
}

TEST_CASE("a TensorFlow checkpoint is shown tensor by tensor, with texts and types that Troupe does not have") {
  const auto description = examined(*posix_file_system(), golden + "/types", {.verify = true});
  CHECK(description.damages.empty());
  CHECK_FALSE(description.id);
  CHECK(description.files == std::vector<std::string>{"types.index", "types.data-00000-of-00001"});
  CHECK(description.properties.at("format") == "TensorFlow");
  std::map<std::string, tensor_description> by_name;
  for (const auto& t : description.tensors)
    by_name[t.name] = t;
  CHECK(by_name.at("texts").dtype == "string");
  CHECK(by_name.at("types/bfloat16").dtype == "bfloat16");
  CHECK(by_name.at("sliced/columns").shape == std::vector<int64_t>{2, 300});
  CHECK_FALSE(by_name.at("sliced/columns").crc32c);
  CHECK(by_name.at("scalar").crc32c);
  const auto values = examined(*posix_file_system(), golden + "/types", {.values = true});
  for (const auto& t : values.tensors)
    CHECK(t.value.has_value() == (t.dtype != "string"));
}

TEST_CASE("damage names the file and the tensor, and what is left is shown") {
  const auto disk = copied(golden, "/t");
  const std::string data = "/t/types.data-00000-of-00001";
  auto bytes = read_file(*disk, data).value();
  bytes.resize(bytes.size() / 2);
  bytes[0] = static_cast<char>(bytes[0] ^ 1);
  REQUIRE(write_file_atomically(*disk, "/t", "types.data-00000-of-00001", bytes));
  const auto cut = examined(*disk, "/t/types", {.verify = true});
  CHECK(cut.tensors.size() == 21);
  REQUIRE(cut.damages.size() > 1);
  for (const auto& d : cut.damages) {
    CHECK(d.file == data);
    CHECK_FALSE(d.tensor.empty());
    CHECK(d.offset);
  }
  REQUIRE(disk->remove(data));
  const auto without = examined(*disk, "/t/types", {.verify = true});
  REQUIRE(without.damages.size() == 1);
  CHECK(without.damages[0].reason == "is missing");
  CHECK(without.tensors.size() == 21);
  REQUIRE(write_file_atomically(*disk, "/t", "types.index",
                                "no table at all, and long enough for a footer of one .........."));
  const auto unreadable = examined(*disk, "/t/types");
  REQUIRE(unreadable.damages.size() == 1);
  CHECK(unreadable.damages[0].file == "/t/types.index");
  CHECK(examine_tensorflow(*disk, "/t/other", {}).error().category == errc::not_found);
}

TEST_CASE("a job is told to convert a TensorFlow directory that it is to go on from") {
  const auto disk = copied(golden + "/estimator", "/tf");
  auto store = open_store(disk, {.read_only = true}, "/tf");
  const auto nothing = [](const auto&) {};
  for (const auto& found : {store->restore_newest().map(nothing), store->inspect_newest().map(nothing),
                            store->restore_step(6).map(nothing)}) {
    REQUIRE_FALSE(found);
    CHECK(found.error().category == errc::failed_precondition);
    CHECK(
        has(found.error().message, "/tf/model.ckpt-6 is a TensorFlow checkpoint: `troupe convert /tf NEW_DIRECTORY`"));
  }
}

}  // namespace troupe
