// A checkpoint with any byte changed or cut off is never restored as undamaged.
#include "storage/checkpoints/checkpoint_store.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

#include <cstdio>
#include <random>

namespace troupe {

namespace {

/// Two checkpoints, 1 and 2, in shards.
struct damaged_directory {
  std::shared_ptr<memory_disk> disk = memory_disk::make();
  std::unique_ptr<checkpoint_store> store = open_store(disk, {.shard_bytes_max = 64});
  damaged_directory() {
    commit(*store, 1);
    commit(*store, 2);
  }
  std::vector<std::string> files_of(int64_t step) const {
    auto names = names_in(*disk);
    std::erase_if(names, [&](const auto& n) { return !n.starts_with("model.ckpt-" + std::to_string(step)); });
    return names;
  }
};

}  // namespace

TEST_CASE(
    "a byte flipped anywhere in the newest checkpoint: the older one is restored, with a warning that names the file") {
  damaged_directory d;
  std::mt19937 random{7};
  int64_t flips = 0;
  for (const auto& name : d.files_of(2)) {
    const std::string path = "/m/" + name, whole = read_file(*d.disk, path).value();
    for (size_t at = 0; at < whole.size(); ++at) {
      CAPTURE(name);
      CAPTURE(at);
      auto bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
      d.disk->overwrite(path, bytes);
      const auto restored = d.store->restore_newest();
      REQUIRE(restored);
      REQUIRE(same(restored->content, sample(1)));
      REQUIRE(restored->warnings.size() == 1);
      REQUIRE(has(restored->warnings[0], path));
      REQUIRE(d.store->restore({2}).error().category == errc::data_loss);
      ++flips;
    }
    d.disk->overwrite(path, whole);
  }
  REQUIRE(same(d.store->restore_newest()->content, sample(2)));
  std::printf("flipped bytes: %lld\n", static_cast<long long>(flips));
}

TEST_CASE("a file cut off at any length, or longer than it was, is data_loss that names it") {
  damaged_directory d;
  for (const auto& name : d.files_of(2)) {
    const std::string path = "/m/" + name, whole = read_file(*d.disk, path).value();
    for (size_t length = 0; length <= whole.size() + 1; ++length) {
      if (length == whole.size())
        continue;
      CAPTURE(name);
      CAPTURE(length);
      d.disk->overwrite(path, length < whole.size() ? whole.substr(0, length) : whole + "\n");
      const auto restored = d.store->restore({2});
      REQUIRE_FALSE(restored);
      REQUIRE(restored.error().category == errc::data_loss);
      REQUIRE(has(restored.error().message, path));
    }
    d.disk->overwrite(path, whole);
  }
}

TEST_CASE("a damaged tensor is named with its file and offset") {
  damaged_directory d;
  const auto info = d.store->inspect({2});
  for (const auto& t : info->tensors) {
    if (t.bytes == 0)
      continue;
    const std::string path = "/m/" + t.file, whole = read_file(*d.disk, path).value();
    auto bytes = whole;
    bytes[static_cast<size_t>(t.offset)] = static_cast<char>(bytes[static_cast<size_t>(t.offset)] ^ 4);
    d.disk->overwrite(path, bytes);
    const auto message = d.store->restore({2}).error().message;
    CHECK(has(message, path + ": tensor " + t.name + " at offset " + std::to_string(t.offset)));
    d.disk->overwrite(path, whole);
  }
}

TEST_CASE("a state file with any byte flipped never leads to anything but a checkpoint that was committed") {
  damaged_directory d;
  const auto whole = read_file(*d.disk, "/m/checkpoint").value();
  for (size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      auto text = whole;
      text[at] = static_cast<char>(text[at] ^ (1 << bit));
      d.disk->overwrite("/m/checkpoint", text);
      const auto restored = d.store->restore_newest();
      if (restored)
        REQUIRE(same(restored->content, sample(restored->content.id.step)));
    }
}

TEST_CASE("a missing shard is data_loss that names it, a missing manifest not_found") {
  damaged_directory d;
  REQUIRE(d.disk->remove("/m/model.ckpt-2-00001-of-00002.safetensors"));
  const auto shard = d.store->restore({2});
  CHECK(shard.error().category == errc::data_loss);
  CHECK(shard.error().message == "/m/model.ckpt-2-00001-of-00002.safetensors is missing");
  REQUIRE(d.disk->remove("/m/model.ckpt-2.manifest.json"));
  CHECK(d.store->restore({2}).error().category == errc::not_found);
  CHECK(d.store->inspect({2}).error().category == errc::not_found);
}

}  // namespace troupe
