// The owner of a directory that was removed must write nothing into a new directory at the same path.
#include "storage/checkpoints/checkpoint_files.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/delegating_file_system.hpp"
#include "tests/support/has.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace troupe {

namespace {

/// Tests two stores, the first of which loses its directory to the second.
void check_lost(const std::shared_ptr<file_system>& fs, const std::string& directory,
                const std::function<void()>& remove_directory) {
  auto first = open_store(fs, {.keep_checkpoint_max = 2}, directory);
  for (const int64_t step : {1, 2})
    commit(*first, step);
  CHECK_FALSE(checkpoint_store::open(fs, directory));
  remove_directory();
  CHECK_MESSAGE(first->commit(sample(3)).error().category == errc::failed_precondition, "nobody else is there yet");
  CHECK_FALSE(fs->info(directory));

  auto second = open_store(fs, {.keep_checkpoint_max = 2}, directory);
  commit(*second, 1);
  const auto lost = first->commit(sample(3));
  REQUIRE_FALSE(lost);
  CHECK(lost.error().category == errc::failed_precondition);
  CHECK(has(lost.error().message, directory + " is not the directory that was locked"));
  const auto one = ids({1});
  CHECK(first->remove(one, true).error().category == errc::failed_precondition);
  CHECK(*ids_with_files(*fs, directory) == std::set<checkpoint_id>{{1}});
  CHECK(second->listed() == ids({1}));
  CHECK(same(second->restore_newest()->content, sample(1)));
  CHECK(commit(*second, 4).warnings.empty());
}

/// Before the n-th call, removes the directory and makes another in its place, whose owner commits `step`.
struct replacing final : delegating_file_system {
  replacing(std::shared_ptr<memory_disk> d, int64_t n, int64_t s)
    : delegating_file_system(d), disk(std::move(d)), left(n), step(s) {}
  expected<void> rename(const std::string& from, const std::string& to) override {
    return count(), delegating_file_system::rename(from, to);
  }
  expected<std::unique_ptr<writable_file>> create(const std::string& path) override {
    return count(), delegating_file_system::create(path);
  }
  expected<std::unique_ptr<writable_file>> create_new(const std::string& path) override {
    return count(), delegating_file_system::create_new(path);
  }
  expected<void> sync_directory(const std::string& path) override {
    return count(), delegating_file_system::sync_directory(path);
  }
  void count() {
    if (armed && --left == 0) {
      disk->remove_directory("/m");
      other = open_store(disk, {.keep_checkpoint_max = 1});
      commit(*other, step);
    }
  }
  std::shared_ptr<memory_disk> disk;
  int64_t left;
  int64_t step;
  bool armed = false;
  std::unique_ptr<checkpoint_store> other;
};

}  // namespace

TEST_CASE(
    "after rm -rf of a directory in use its owner commits and deletes nothing any more, and the next owner is alone") {
  SUBCASE("on the disk") {
    const temporary_directory disk;
    check_lost(posix_file_system(), disk.path + "/m", [&] { std::filesystem::remove_all(disk.path + "/m"); });
  }
  SUBCASE("in memory") {
    auto disk = memory_disk::make();
    check_lost(disk, "/m", [&] { disk->remove_directory("/m"); });
  }
  SUBCASE("in a world that can fail") {
    auto disk = memory_disk::make();
    check_lost(faulty_file_system::around(disk), "/m", [&] { disk->remove_directory("/m"); });
  }
}

TEST_CASE("a directory that was emptied, lock and all, or moved away is lost too") {
  const temporary_directory disk;
  const std::string directory = disk.path + "/m";
  auto store = open_store(posix_file_system(), {}, directory);
  commit(*store, 1);
  SUBCASE("emptied") {
    for (const auto& entry : std::filesystem::directory_iterator{directory})
      std::filesystem::remove_all(entry.path());
    CHECK(store->commit(sample(2)).error().category == errc::failed_precondition);
    CHECK(std::filesystem::is_empty(directory));
  }
  SUBCASE("moved") {
    std::filesystem::rename(directory, directory + "-elsewhere");
    CHECK(store->commit(sample(2)).error().category == errc::failed_precondition);
    CHECK_FALSE(std::filesystem::exists(directory));
    std::filesystem::rename(directory + "-elsewhere", directory);  // The same directory again.
    CHECK(store->commit(sample(2)));
  }
}

TEST_CASE(
    "a directory that is replaced before any creation, rename or sync of a commit gets no file of that commit's, and "
    "keeps its own") {
  int64_t replaced = 0;
  for (bool reached = true; reached; replaced += reached) {
    const int64_t call = replaced + 1;
    CAPTURE(call);
    auto disk = memory_disk::make();
    auto fs = std::make_shared<replacing>(disk, call, 1);
    auto store = open_store(fs, {.keep_checkpoint_max = 1, .shard_bytes_max = 64});
    commit(*store, 1);
    fs->armed = true;
    static_cast<void>(store->commit(sample(2)));  // Fails unless only the last deletion is left.
    reached = fs->other != nullptr;
    if (!reached)
      break;
    CHECK(fs->other->listed() == ids({1}));
    CHECK(same(fs->other->restore({1})->content, sample(1)));
    for (const auto& name : names_in(*disk))
      CHECK_MESSAGE((!name.starts_with("model.ckpt-2") || name.ends_with(".tmp")), name);
    CHECK(names_in(*disk).size() <= 4);  // Shard, manifest, state file, and one file of the lost commit.
  }
  CHECK(replaced > 10);
}

TEST_CASE("a commit that loses its directory takes back nothing of the next owner's checkpoint of the same step") {
  int64_t replaced = 0;
  for (bool reached = true; reached; replaced += reached) {
    const int64_t call = replaced + 1;
    CAPTURE(call);
    auto disk = memory_disk::make();
    auto fs = std::make_shared<replacing>(disk, call, 2);
    auto store = open_store(fs, {.keep_checkpoint_max = 1, .shard_bytes_max = 64});
    commit(*store, 1);
    fs->armed = true;
    static_cast<void>(store->commit(sample(2)));
    reached = fs->other != nullptr;
    if (!reached)
      break;
    const auto kept = fs->other->restore({2});
    REQUIRE_MESSAGE(kept, (kept ? "" : to_text(kept.error())));
    CHECK(same(kept->content, sample(2)));
  }
  CHECK(replaced > 10);
}

TEST_CASE(
    "deleting the last checkpoint in a directory that has another owner now leaves that owner's list and files alone") {
  auto disk = memory_disk::make();
  auto first = open_store(disk);
  commit(*first, 1);
  disk->remove_directory("/m");
  auto second = open_store(disk);
  commit(*second, 1);
  const auto names = names_in(*disk);
  const auto lost = first->remove(ids({1}), true);
  REQUIRE_FALSE(lost);
  CHECK(lost.error().category == errc::failed_precondition);
  CHECK(names_in(*disk) == names);
}

TEST_CASE("a deletion that was put off until a reader was done does not reach into a directory that was made since") {
  auto disk = memory_disk::make();
  auto store = open_store(disk, {.keep_checkpoint_max = 1});
  commit(*store, 1);
  // The lease leaves the first owner a deletion to do later.
  store->lease({1});
  commit(*store, 2);
  disk->remove_directory("/m");
  auto other = open_store(disk, {.keep_checkpoint_max = 1});
  commit(*other, 1);
  const auto released = store->release({1});
  REQUIRE_FALSE(released);
  CHECK(released.error().category == errc::failed_precondition);
  CHECK(same(other->restore({1})->content, sample(1)));
}

TEST_CASE("when a second process takes over a directory, the first ends in an error and the second's files are whole") {
  const temporary_directory disk;
  const std::string directory = disk.path + "/m";
  int told[2], go[2];
  REQUIRE(::pipe(told) == 0);
  REQUIRE(::pipe(go) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // Ends the child if the parent fails before.
    auto store = checkpoint_store::open(posix_file_system(), directory, {.keep_checkpoint_max = 1});
    char c = store && (*store)->commit(sample(1)) ? 'y' : 'n';
    if (::write(told[1], &c, 1) != 1 || ::read(go[0], &c, 1) != 1)
      ::_exit(3);
    const auto lost = (*store)->commit(sample(2));
    ::_exit(lost ? 0 : lost.error().category == errc::failed_precondition ? 1 : 2);
  }
  char answer = 'n';
  REQUIRE(::read(told[0], &answer, 1) == 1);
  REQUIRE(answer == 'y');
  std::filesystem::remove_all(directory);
  auto store = open_store(posix_file_system(), {.keep_checkpoint_max = 1}, directory);
  commit(*store, 7);
  REQUIRE(::write(go[1], &answer, 1) == 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  CHECK(*ids_with_files(*posix_file_system(), directory) == std::set<checkpoint_id>{{7}});
  CHECK(same(store->restore_newest()->content, sample(7)));
  for (const int end : {told[0], told[1], go[0], go[1]})
    ::close(end);
}

}  // namespace troupe
