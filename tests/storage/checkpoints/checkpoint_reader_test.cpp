#include "storage/checkpoints/checkpoint_reader.hpp"

#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

#include <cstring>

namespace troupe {

namespace {

void damage(memory_disk& disk, const std::string& path) {
  auto bytes = read_file(disk, path).value();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  disk.overwrite(path, bytes);
}
std::string shard_of(int64_t step) { return "/m/model.ckpt-" + std::to_string(step) + "-00000-of-00001.safetensors"; }

}  // namespace

TEST_CASE("the pieces of a checkpoint, however long they may be, are its tensors in order") {
  const auto fs = memory_file_system();
  auto store = open_store(fs, {.shard_bytes_max = 40});
  commit(*store, 7);
  for (const int64_t bytes_max : {1, 4, 7, 8, 24, 1000}) {
    CAPTURE(bytes_max);
    const auto reader = store->read_newest();
    REQUIRE(reader);
    const auto& info = (*reader)->info();
    CHECK(info.id == checkpoint_id{7});
    CHECK(info.blobs == sample(7).blobs);
    std::vector<tensor> read;
    for (const auto& t : info.tensors)
      read.push_back(tensor::zeros(t.type, t.dims));
    std::pair<size_t, int64_t> at{0, 0};
    for (;;) {
      const auto piece = (*reader)->next(bytes_max);
      REQUIRE(piece);
      if (!*piece)
        break;
      const auto& [index, first, elements] = **piece;
      CHECK((index == at.first ? first == at.second : first == 0 && index > at.first));
      at = {index, first + elements.elements()};
      CHECK(elements.elements() > 0);
      CHECK(elements.byte_size() <= std::max<int64_t>(bytes_max, size_of(elements.type())));
      std::memcpy(const_cast<std::byte*>(read[index].data()) + first * size_of(elements.type()), elements.data(),
                  elements.bytes().size());
    }
    CHECK_FALSE((*reader)->next(bytes_max).value());
    for (size_t i = 0; i < read.size(); ++i) {
      CHECK(info.tensors[i].name == sample(7).tensors[i].name);
      CHECK(read[i] == sample(7).tensors[i].value);
    }
  }
}

TEST_CASE("one tensor is read and verified by itself, and a tensor of no such name is absent") {
  const auto disk = memory_disk::make();
  {
    auto store = open_store(disk, {.shard_bytes_max = 40});
    commit(*store, 7);
    const auto reader = store->read_newest();
    REQUIRE(reader);
    for (const auto& t : sample(7).tensors) {
      const auto found = (*reader)->one(t.name);
      REQUIRE(found);
      CHECK(*found == t.value);
    }
    CHECK_FALSE((*reader)->one("nothing").value());
  }
  const auto whole = open_store(disk);
  commit(*whole, 8);
  damage(*disk, shard_of(8));
  const auto reader = whole->read_newest();
  REQUIRE(reader);
  int damaged = 0;
  for (const auto& t : sample(8).tensors)
    if (const auto found = (*reader)->one(t.name); !found) {
      ++damaged;
      CHECK(found.error().category == errc::data_loss);
      CHECK(has(found.error().message, t.name));
    } else {
      CHECK(*found == t.value);
    }
  CHECK(damaged == 1);
}

TEST_CASE(
    "a checkpoint that was found damaged by reading it is passed over where the reader says so, and is written anew by "
    "a save") {
  const auto disk = memory_disk::make();
  const auto fs = faulty_file_system::around(disk);
  auto store = open_store(fs);
  for (const int64_t step : {1, 2})
    commit(*store, step);
  damage(*disk, shard_of(2));
  const auto reader = store->read_newest();
  REQUIRE(reader);
  CHECK((*reader)->info().id == checkpoint_id{2});
  expected<std::optional<checkpoint_reader::piece>> piece;
  do
    piece = (*reader)->next(4);
  while (piece && *piece);
  REQUIRE_FALSE(piece);
  CHECK(piece.error().category == errc::data_loss);

  const auto calls = fs->trace().size();
  const auto next = store->read_newest({{{2}, piece.error()}});
  REQUIRE(next);
  CHECK((*next)->info().id == checkpoint_id{1});
  REQUIRE((*next)->warnings.size() == 1);
  CHECK((*next)->warnings[0] == "model.ckpt-2 is passed over: " + piece.error().message);
  const auto trace = fs->trace();
  for (size_t i = calls; i < trace.size(); ++i)
    CHECK_FALSE(has(trace[i], "open " + shard_of(2)));

  auto replaced = store->commit(sample(2));
  REQUIRE(replaced);
  REQUIRE(replaced->warnings.size() == 1);
  CHECK(has(replaced->warnings[0], "model.ckpt-2 was damaged and is written anew"));
  CHECK(same(store->restore_newest()->content, sample(2)));
}

TEST_CASE("a directory whose damaged checkpoints are removed while they are read is not one that never had any") {
  const auto store = open_store(memory_file_system());
  CHECK(store->read_newest().error().category == errc::not_found);
  CHECK(store->read_newest({{{2}, error{errc::data_loss, "bad"}}}).error().category == errc::data_loss);
}

TEST_CASE("a reader keeps its checkpoint from being deleted, and outlives its store") {
  const auto fs = memory_file_system();
  auto store = open_store(fs, {.keep_checkpoint_max = 1});
  commit(*store, 1);
  auto reader = store->read({1});
  REQUIRE(reader);
  CHECK(commit(*store, 2).held == ids({1}));
  store.reset();
  CHECK(same((*reader)->all()->content, sample(1)));
  reader->reset();
  CHECK(open_store(fs)->restore({1}).error().category == errc::not_found);
}

}  // namespace troupe
