// Directories that earlier versions wrote. They are never written again: a changed format gets a new directory.
#include "storage/checkpoints/checkpoint_store.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

#include <cstdlib>

namespace troupe {

namespace {

/// The content of tests/golden/checkpoint-v1, for steps 100 and 200. It does not use `sample`, which may change.
checkpoint_content version_1(int64_t step) {
  const auto s = static_cast<int32_t>(step);
  return {
      .id = {step},
      .tensors = {{"dense/kernel",
                   tensor::of<float>({2, 3}, {0.5f, -1.f, 2.25f, 1e-3f, 3e8f, static_cast<float>(step)})},
                  {"dense/kernel/adam_m", tensor::of<double>({2}, {0.1, -0.2})},
                  {"global_step", tensor::scalar<int64_t>(step)},
                  {"classes", tensor::of<int32_t>({3}, {s, -s, 0})},
                  {"trained", tensor::of<bool>({2}, {true, false})},
                  {"pixels", tensor::of<uint8_t>({1, 4}, {0, 1, 127, 255})},
                  {"nothing", tensor::zeros(dtype::float32, {0})}},
      .blobs = {{"infeed/0", std::string("\0\1\2\xff", 4)}, {"books", ""}},
      .properties = {{"finished", "false"}, {"numerics_version", "1"}, {"plan", "größe: 3"}},
  };
}

const std::string directory = std::string{TROUPE_GOLDEN_DIR} + "/checkpoint-v1";

}  // namespace

TEST_CASE("the checkpoint directory that the first version wrote is read, value by value") {
  auto store = open_store(posix_file_system(), {.read_only = true}, directory);
  CHECK(store->listed() == ids({100, 200}));
  CHECK(store->newest() == checkpoint_id{200});
  const auto newest = store->restore_newest();
  REQUIRE_MESSAGE(newest, (newest ? "" : to_text(newest.error())));
  CHECK(newest->warnings.empty());
  CHECK(same(newest->content, version_1(200)));
  CHECK(same(store->restore({100})->content, version_1(100)));
}

TEST_CASE("the manifest in the document of the format is the golden one, byte by byte") {
  auto fs = posix_file_system();
  const auto document = read_file(*fs, std::string{TROUPE_GOLDEN_DIR} + "/../../docs/checkpoint_format.md");
  const auto manifest = read_file(*fs, directory + "/model.ckpt-100.manifest.json");
  REQUIRE(document);
  REQUIRE(manifest);
  CHECK(has(*document, "```json\n" + *manifest + "```\n"));
}

TEST_CASE("write the directory of the first version" * doctest::skip()) {
  const char* to = std::getenv("TROUPE_WRITE_GOLDEN");
  REQUIRE(to);
  auto store = open_store(posix_file_system(), {.shard_bytes_max = 48}, to);
  REQUIRE(store->commit(version_1(100)));
  REQUIRE(store->commit(version_1(200)));
}

}  // namespace troupe
