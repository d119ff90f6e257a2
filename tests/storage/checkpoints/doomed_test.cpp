// A checkpoint that retention drops while it is read is deleted later, even if its reader or the owner dies, and no
// other file is deleted.
#include "storage/checkpoints/checkpoint_files.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

#include <sys/wait.h>

#include <csignal>

namespace troupe {

namespace {

/// The checkpoints that have files in the directory.
std::vector<checkpoint_id> on_disk(file_system& fs, const std::string& directory = "/m") {
  const auto found = ids_with_files(fs, directory);
  REQUIRE(found);
  return {found->begin(), found->end()};
}

void copy(file_system& fs, const std::string& from, const std::string& to) {
  const auto names = names_in(fs, from);
  REQUIRE(fs.create_directories(to));
  for (const auto& name : names)
    if (name.starts_with("model.ckpt-"))
      REQUIRE(write_file_atomically(fs, to, name, *read_file(fs, from + "/" + name)));
}

}  // namespace

TEST_CASE("a step that was dropped while it was read is deleted by the next owner, after a kill at any call") {
  int64_t points = 0;
  for (bool finished = false; !finished; ++points) {
    for (const int variant : {0, 1, 2, 3}) {
      CAPTURE(points);
      CAPTURE(variant);
      auto disk = memory_disk::make();
      auto faulty = faulty_file_system::around(disk);
      auto store = open_store(faulty, {.keep_checkpoint_max = 1, .shard_bytes_max = 64});
      commit(*store, 1);
      auto reader = open_store(disk, {.read_only = true});
      auto reading = reader->restore({1});
      REQUIRE(reading);
      store->lease({1});
      const auto before = faulty->calls();
      faulty->fail_after(points, variant % 2 == 1);
      const bool reported = store->commit(sample(2)).has_value();
      finished = faulty->calls() - before < points;
      store.reset();
      if (variant >= 2)
        disk->crash({.torn_tails = true, .entries_may_survive = true, .seed = static_cast<uint64_t>(points)});
      reading->lease.reset();

      store = open_store(disk, {.keep_checkpoint_max = 1, .shard_bytes_max = 64});
      const auto listed = store->listed();
      if (reported)
        CHECK(listed == ids({2}));
      if (listed == ids({2}))
        CHECK(on_disk(*disk) == ids({2}));
      else
        CHECK(same(store->restore({1})->content, sample(1)));  // It was not dropped.
    }
  }
  CHECK(points > 20);
}

TEST_CASE(
    "a doomed checkpoint that is still read when the directory is opened is deleted at the first commit after that") {
  auto fs = memory_file_system();
  auto store = open_store(fs, {.keep_checkpoint_max = 1});
  commit(*store, 1);
  auto reading = store->restore({1});
  commit(*store, 2);
  store.reset();
  store = open_store(fs, {.keep_checkpoint_max = 1});
  CHECK(on_disk(*fs) == ids({1, 2}));
  CHECK(commit(*store, 3).held == ids({1}));
  store.reset();
  store = open_store(fs, {.keep_checkpoint_max = 1});
  CHECK(on_disk(*fs) == ids({1, 3}));
  reading->lease.reset();
  CHECK(commit(*store, 4).deleted == ids({1, 3}));
  CHECK(on_disk(*fs) == ids({4}));
}

TEST_CASE("a step that was deleted by request while it was read goes when the next owner opens the directory") {
  auto fs = memory_file_system();
  auto store = open_store(fs);
  for (const int64_t step : {1, 2})
    commit(*store, step);
  auto reading = store->restore({1});
  CHECK(store->remove(ids({1}), false)->held == ids({1}));
  store.reset();
  reading->lease.reset();
  store = open_store(fs);
  CHECK(store->listed() == ids({2}));
  CHECK(on_disk(*fs) == ids({2}));
}

TEST_CASE("a checkpoint that somebody put back after it was deleted stays, as does one that was never listed") {
  const temporary_directory disk;
  for (const auto& [fs, root] :
       {std::pair{memory_file_system(), std::string{"/m"}}, {posix_file_system(), disk.path}}) {
    CAPTURE(root);
    const std::string directory = root + "/model", backup = root + "/backup";
    auto store = open_store(fs, {.keep_checkpoint_max = 1}, directory);
    commit(*store, 1);
    copy(*fs, directory, backup);
    commit(*store, 2);
    CHECK(on_disk(*fs, directory) == ids({2}));
    store.reset();
    copy(*fs, backup, directory);
    CHECK(on_disk(*fs, directory) == ids({1, 2}));
    store = open_store(fs, {.keep_checkpoint_max = 1}, directory);
    CHECK(commit(*store, 3).deleted == ids({2}));
    CHECK(on_disk(*fs, directory) == ids({1, 3}));
    CHECK(same(store->restore({1})->content, sample(1)));
  }
}

TEST_CASE("a dropped step that is preserved or listed again by hand stays") {
  auto fs = memory_file_system();
  auto store = open_store(fs, {.keep_checkpoint_max = 1});
  commit(*store, 1);
  auto reading = store->restore({1});
  commit(*store, 2);
  store.reset();
  auto text = *read_file(*fs, "/m/checkpoint");
  REQUIRE(has(text, "# doomed: model.ckpt-1 "));
  SUBCASE("preserved") { text += "# preserved: model.ckpt-1\n"; }
  SUBCASE("listed") { text += "all_model_checkpoint_paths: \"model.ckpt-1\"\n"; }
  edit(*fs, "checkpoint", text);
  reading->lease.reset();
  store = open_store(fs, {.keep_checkpoint_max = 5});
  CHECK(same(store->restore({1})->content, sample(1)));
}

TEST_CASE("a process that is killed while another reads what it dropped leaves nothing to the one after it") {
  const temporary_directory disk;
  {
    auto store = open_store(posix_file_system(), {.keep_checkpoint_max = 1}, disk.path);
    commit(*store, 1);
  }
  auto reader = open_store(posix_file_system(), {.read_only = true}, disk.path);
  auto reading = reader->restore({1});
  REQUIRE(reading);
  const pid_t child = ::fork();
  if (child == 0) {
    auto store = checkpoint_store::open(posix_file_system(), disk.path, {.keep_checkpoint_max = 1});
    if (store && (*store)->commit(sample(2)))
      ::kill(::getpid(), SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  CHECK(on_disk(*posix_file_system(), disk.path) == ids({1, 2}));
  reading->lease.reset();
  auto store = open_store(posix_file_system(), {.keep_checkpoint_max = 1}, disk.path);
  CHECK(on_disk(*posix_file_system(), disk.path) == ids({2}));
}

}  // namespace troupe
