// Whoever reads a checkpoint, in this process or another, protects its files from the owner's retention.
#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"

#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <thread>

namespace troupe {

namespace {

bool there(file_system& fs, const std::string& directory, int64_t step) {
  return fs.info(directory + "/model.ckpt-" + std::to_string(step) + ".manifest.json").has_value();
}

/// Tests leases on the real disk or on one in memory.
void check_leases(const std::shared_ptr<file_system>& fs, const std::string& directory) {
  auto store = open_store(fs, {.keep_checkpoint_max = 1}, directory);
  commit(*store, 1);
  auto reader = open_store(fs, {.read_only = true}, directory);
  auto first = reader->restore_newest();
  auto second = reader->restore({1});
  REQUIRE((first && second));
  const auto while_read = commit(*store, 2);
  CHECK(while_read.deleted.empty());
  CHECK(while_read.held == ids({1}));
  CHECK(while_read.warnings.empty());
  CHECK(same(reader->restore({1})->content, sample(1)));

  first->lease.reset();
  CHECK(commit(*store, 3).held == ids({1}));
  second->lease.reset();
  CHECK(commit(*store, 4).deleted == ids({1, 3}));
  CHECK_FALSE(there(*fs, directory, 1));
  CHECK(reader->restore({1}).error().category == errc::not_found);
}

}  // namespace

TEST_CASE("[EST-86] a checkpoint that is being read outlives its eviction, and goes at the next commit after") {
  SUBCASE("in memory") { check_leases(memory_file_system(), "/m"); }
  SUBCASE("on the disk") {
    const temporary_directory disk;
    check_leases(posix_file_system(), disk.path);
  }
}

TEST_CASE("an evicted step that is read while it is saved again keeps its files and is listed again") {
  auto fs = memory_file_system();
  auto store = open_store(fs, {.keep_checkpoint_max = 1});
  commit(*store, 1);
  const auto reading = store->restore({1});
  commit(*store, 2);
  const double before = fs->info("/m/model.ckpt-1.manifest.json")->modified;
  CHECK(commit(*store, 1).deleted == ids({2}));
  CHECK(fs->info("/m/model.ckpt-1.manifest.json")->modified == before);
  CHECK(store->listed() == ids({1}));
}

TEST_CASE("[EST-86] a lease held by another process delays deletion until that process dies") {
  const temporary_directory disk;
  auto store = open_store(posix_file_system(), {.keep_checkpoint_max = 1}, disk.path);
  commit(*store, 1);
  int told[2], hold[2];
  REQUIRE(::pipe(told) == 0);
  REQUIRE(::pipe(hold) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // Ends the child if the parent fails before.
    ::close(hold[1]);
    const auto reader = checkpoint_store::open(posix_file_system(), disk.path, {.read_only = true});
    const auto reading = reader ? (*reader)->restore({1}) : fail(reader.error());
    char c = reading ? 'y' : 'n';
    if (::write(told[1], &c, 1) == 1 && ::read(hold[0], &c, 1) >= 0)
      ::_exit(1);
    ::_exit(2);
  }
  char answer = 'n';
  REQUIRE(::read(told[0], &answer, 1) == 1);
  CHECK(answer == 'y');
  CHECK(commit(*store, 2).held == ids({1}));
  CHECK(there(*posix_file_system(), disk.path, 1));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(commit(*store, 3).deleted == ids({1, 2}));
  for (const int end : {told[0], told[1], hold[0], hold[1]})
    ::close(end);
}

TEST_CASE("asking who owns a directory refuses nobody the lock, and names the process that has it") {
  const temporary_directory disk;
  auto fs = posix_file_system();
  CHECK(fs->lock_owner(disk.path)->has_value() == false);
  std::atomic<bool> done = false;
  std::atomic<int64_t> asked = 0;
  std::thread curious{[&] {
    for (; !done; ++asked)
      static_cast<void>(posix_file_system()->lock_owner(disk.path));
  }};
  for (int i = 0; i < 500 || asked < 500; ++i) {
    const auto lock = fs->lock(disk.path);
    REQUIRE_MESSAGE(lock, (lock ? "" : to_text(lock.error())));
    CHECK(fs->lock_owner(disk.path)->value_or("nobody") == "process " + std::to_string(::getpid()));
    CHECK_FALSE(fs->lock(disk.path));
  }
  done = true;
  curious.join();
  CHECK(fs->lock_owner(disk.path)->has_value() == false);
}

TEST_CASE("a lost disk ends every hold, and a file without a name cannot be held") {
  auto disk = memory_disk::make();
  auto store = open_store(disk, {.keep_checkpoint_max = 1});
  commit(*store, 1);
  const auto reading = store->restore({1});
  disk->crash();
  CHECK(disk->remove_unless_held("/m/model.ckpt-1.manifest.json") == true);
  CHECK(disk->hold("/m/model.ckpt-1.manifest.json").error().category == errc::not_found);
  CHECK(disk->remove_unless_held("/m/model.ckpt-1.manifest.json").error().category == errc::not_found);
}

TEST_CASE("a hold that fails is told as what it is, and passes for no damage") {
  auto fs = faulty_file_system::around(memory_file_system());
  auto store = open_store(fs);
  commit(*store, 1);
  fs->inject({.operation = file_operation::hold, .category = errc::unavailable, .reason = "input/output error"});
  CHECK(store->restore_newest().error().category == errc::unavailable);
  CHECK(store->restore_newest());
}

}  // namespace troupe
