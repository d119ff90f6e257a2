#include "storage/files/file_system.hpp"

#include "storage/files/faulty_file_system.hpp"
#include "storage/files/memory_file_system.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>

namespace troupe {

using test::has;

namespace {

std::span<const std::byte> text_bytes(std::string_view text) { return std::as_bytes(std::span{text}); }

/// Checks the guarantees of the interface, which every file system must keep.
void check_contract(file_system& fs, const std::string& root) {
  const std::string directory = root + "/a/b", path = directory + "/x";
  REQUIRE(fs.create_directories(directory));
  REQUIRE(fs.create_directories(directory));
  CHECK(fs.info(directory)->directory);

  auto file = fs.create(path);
  REQUIRE(file);
  REQUIRE((*file)->append(text_bytes("hello ")));
  REQUIRE((*file)->append(text_bytes("world")));
  REQUIRE((*file)->sync());
  REQUIRE((*file)->close());
  CHECK(read_file(fs, path) == "hello world");
  CHECK(fs.info(path)->name == "x");
  CHECK(fs.info(path)->size == 11);
  CHECK_FALSE(fs.info(path)->directory);

  {
    auto more = fs.open_to_append(path);
    REQUIRE(more);
    CHECK(*(*more)->is_in_place());
    REQUIRE((*more)->append(text_bytes("!")));
    CHECK(read_file(fs, path) == "hello world!");
    REQUIRE(fs.create(path).value()->append(text_bytes("hello world")));
    CHECK_MESSAGE(!*(*more)->is_in_place(), "it is shorter than what was written");
    REQUIRE((*more)->close());
  }

  const auto opened = fs.open(path);
  REQUIRE(opened);
  std::string part(5, ' ');
  REQUIRE((*opened)->read(6, std::as_writable_bytes(std::span{part})));
  CHECK(part == "world");
  const auto beyond = (*opened)->read(7, std::as_writable_bytes(std::span{part}));
  REQUIRE_FALSE(beyond);
  CHECK(beyond.error().category == errc::data_loss);
  CHECK(has(beyond.error().message, path));
  CHECK(has(beyond.error().message, "wanted 5 bytes at 7, found 4"));

  REQUIRE(write_file_atomically(fs, directory, "y", "new"));
  CHECK(names_in(fs, directory) == std::vector<std::string>{"x", "y"});
  REQUIRE(fs.rename(path, directory + "/y"));
  CHECK(names_in(fs, directory) == std::vector<std::string>{"y"});
  CHECK(read_file(fs, directory + "/y") == "hello world");
  REQUIRE(fs.sync_directory(directory));
  REQUIRE(fs.create(directory + "/y"));
  CHECK(read_file(fs, directory + "/y") == "");

  {
    const auto lock = fs.lock(directory);
    REQUIRE(lock);
    const auto second = fs.lock(directory);
    REQUIRE_FALSE(second);
    CHECK(second.error().category == errc::failed_precondition);
    CHECK(has(second.error().message, directory));
  }
  CHECK(fs.lock(directory));

  REQUIRE(fs.remove(directory + "/y"));
  const auto fails = [&](const auto& result, errc category, const std::string& names) {
    REQUIRE_FALSE(result);
    CHECK(result.error().category == category);
    CHECK(has(result.error().message, names));
  };
  const std::string gone = directory + "/gone";
  fails(fs.open(gone), errc::not_found, "open " + gone);
  fails(fs.open_to_append(gone), errc::not_found, "open " + gone);
  fails(fs.open_to_append(directory), errc::failed_precondition, directory);
  fails(fs.info(gone), errc::not_found, gone);
  fails(fs.remove(gone), errc::not_found, "remove " + gone);
  fails(fs.rename(gone, path), errc::not_found, "rename " + gone);
  fails(fs.list(gone), errc::not_found, "list " + gone);
  fails(fs.sync_directory(gone), errc::not_found, "sync directory " + gone);
  fails(fs.create(gone + "/x"), errc::not_found, "create " + gone);
  REQUIRE(fs.create(path));
  fails(fs.create(path + "/below"), errc::failed_precondition, path);
  fails(fs.create_directories(path + "/below"), errc::failed_precondition, path);
  fails(fs.list(path), errc::failed_precondition, path);
  fails(fs.open(directory), errc::failed_precondition, directory);
  fails(fs.create(directory), errc::failed_precondition, directory);

  const std::string inner = root + "/a/c";
  CHECK(fs.create_directory(inner) == true);
  CHECK(fs.create_directory(inner) == false);
  CHECK(fs.create_directory(path) == false);
  fails(fs.create_directory(gone + "/c"), errc::not_found, "create directory " + gone);
  REQUIRE(fs.create(inner + "/x"));
  fails(fs.remove_empty_directory(inner), errc::failed_precondition, "remove " + inner);
  fails(fs.remove_empty_directory(path), errc::failed_precondition, "remove " + path);
  fails(fs.rename(inner, path.substr(0, path.rfind('/'))), errc::failed_precondition, "rename " + inner);
  REQUIRE(fs.rename(inner, root + "/a/d"));
  CHECK(names_in(fs, root + "/a/d") == std::vector<std::string>{"x"});
  CHECK(fs.create_directory(root + "/a/d/e") == true);
  REQUIRE(remove_tree(fs, root + "/a/d"));
  fails(fs.info(root + "/a/d"), errc::not_found, root + "/a/d");
  CHECK(remove_tree(fs, root + "/a/d"));
  CHECK(fs.create_directory(inner) == true);
  REQUIRE(fs.remove_empty_directory(inner));
  fails(fs.remove_empty_directory(inner), errc::not_found, "remove " + inner);
}

/// Calls `meddle` when it is asked for its owner: before a file that is written gets its name.
struct meddling_lock final : directory_lock {
  explicit meddling_lock(std::function<void()> f) : meddle(std::move(f)) {}
  expected<void> check() const override {
    meddle();
    return {};
  }
  std::function<void()> meddle;
};

}  // namespace

TEST_CASE("the disk, the one in memory and one wrapped to fail keep the same promises") {
  const temporary_directory disk;
  check_contract(*posix_file_system(), disk.path);
  check_contract(*memory_file_system(), "/m");
  check_contract(*faulty_file_system::around(memory_file_system()), "/m");
}

TEST_CASE("a pipe, a device and a directory are no files to read, and a pipe without a writer is refused at once") {
  const temporary_directory disk;
  auto fs = posix_file_system();
  const std::string pipe = disk.path + "/pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  ::alarm(60);  // Ends the test if an open waits for a writer.
  for (const auto& [path, kind] : {std::pair{pipe, "a pipe"}, {std::string{"/dev/null"}, "a device"}}) {
    const auto opened = fs->open(path);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().category == errc::failed_precondition);
    CHECK(has(opened.error().message, path + ": it is " + kind + ", and a regular file is wanted"));
  }
  CHECK(read_file(*fs, pipe).error().category == errc::failed_precondition);
  CHECK(fs->hold(pipe));
  ::alarm(0);
}

TEST_CASE("what has the temporary name of a file is replaced: no pipe is waited for, and no link followed") {
  const temporary_directory disk;
  auto fs = posix_file_system();
  const std::string path = disk.path + "/x", temporary = path + ".tmp", other = disk.path + "/other";
  std::ofstream{other} << "mine";
  ::alarm(60);  // Ends the test if an open waits for a reader.
  const auto writes = [&](const std::string& text) {
    REQUIRE(write_file_atomically(*fs, disk.path, "x", text));
    CHECK(std::filesystem::symlink_status(path).type() == std::filesystem::file_type::regular);
    CHECK(read_file(*fs, path) == text);
    CHECK(read_file(*fs, other) == "mine");
    CHECK(names_in(*fs, disk.path) == std::vector<std::string>{"other", "x"});
  };
  REQUIRE(::mkfifo(temporary.c_str(), 0600) == 0);
  writes("past a pipe");
  ::alarm(0);
  for (const auto& target : {other, disk.path + "/nowhere"}) {
    std::filesystem::create_symlink(target, temporary);
    writes("past a link to " + target);
  }
  std::ofstream{temporary} << "of a process that died";
  writes("past a file");
  REQUIRE(fs->create_directories(temporary));
  const auto refused = write_file_atomically(*fs, disk.path, "x", "new");
  REQUIRE_FALSE(refused);
  CHECK(has(refused.error().message, temporary + ": Is a directory"));
  CHECK(read_file(*fs, path) == "past a file");
}

TEST_CASE("a file whose temporary name is taken while it is written keeps its old bytes, and what took it stays") {
  const temporary_directory disk;
  for (const auto& [fs, root] :
       {std::pair{posix_file_system(), disk.path}, {memory_file_system(), std::string{"/m"}}}) {
    const std::string temporary = root + "/x.tmp";
    REQUIRE(fs->create_directories(root));
    REQUIRE(write_file_atomically(*fs, root, "x", "old"));
    const auto refused = [&, &on = *fs, &at = root](const meddling_lock& lock) {
      const auto written = write_file_atomically(on, at, "x", "new", &lock);
      REQUIRE_FALSE(written);
      CHECK(written.error().category == errc::failed_precondition);
      CHECK(has(written.error().message, temporary + " was removed, replaced or truncated by another program"));
      CHECK(read_file(on, at + "/x") == "old");
    };
    refused(meddling_lock{[&, &on = *fs] { REQUIRE(on.create(temporary)); }});
    refused(meddling_lock{[&, &on = *fs] { REQUIRE(on.remove(temporary)); }});
    refused(meddling_lock{[&, &on = *fs] {
      REQUIRE(on.remove(temporary));
      REQUIRE(on.create(temporary).value()->append(text_bytes("another's")));
    }});
    CHECK(read_file(*fs, temporary) == "another's");
  }
}

TEST_CASE("a file of more bytes than its kind has is refused with path and size, and nothing is allocated for it") {
  const auto disk = memory_file_system();
  REQUIRE(write_file_atomically(*disk, "", "ten", "0123456789"));
  CHECK(read_file(*disk, "/ten", 10) == "0123456789");
  const auto refused = read_file(*disk, "/ten", 9);
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == error{errc::data_loss, "/ten: it has 10 bytes, and a file of its kind 9 at most"});
  const temporary_directory real;
  const std::string path = real.path + "/large";
  std::ofstream{path} << "x";
  std::filesystem::resize_file(path, uintmax_t{1} << 40);  // More than there is memory, and no byte on the disk.
  CHECK(has(read_file(*posix_file_system(), path).error().message, path + ": it has 1099511627776 bytes"));
}

TEST_CASE("a name that is taken is not created anew, and its file stays") {
  const temporary_directory disk;
  for (const auto& [fs, root] : {std::pair{posix_file_system(), disk.path}, {memory_file_system(), std::string{}}}) {
    const std::string path = root + "/x";
    auto first = fs->create_new(path);
    REQUIRE((first && *first));
    REQUIRE((*first)->append(text_bytes("mine")));
    REQUIRE((*first)->close());
    const auto second = fs->create_new(path);
    REQUIRE(second);
    CHECK_FALSE(*second);
    CHECK(read_file(*fs, path) == "mine");
    CHECK(fs->create_new(root + "/gone/x").error().category == errc::not_found);
  }
}

TEST_CASE("a file that is put in another's place has another number, a copy of the same bytes too") {
  const temporary_directory disk;
  for (const auto& [fs, root] :
       {std::pair{posix_file_system(), disk.path}, {memory_file_system(), std::string{"/m"}}}) {
    REQUIRE(fs->create_directories(root));
    REQUIRE(write_file_atomically(*fs, root, "x", "bytes"));
    const auto number = fs->info(root + "/x")->changed;
    CHECK(fs->info(root + "/x")->changed == number);
    { const auto read = fs->hold(root + "/x"); }
    CHECK(fs->info(root + "/x")->changed == number);
    REQUIRE(write_file_atomically(*fs, root, "x", "bytes"));
    CHECK(fs->info(root + "/x")->changed != number);
  }
}

TEST_CASE("paths are joined with one separator, and an absolute name stands alone") {
  CHECK(join_path("a", "b") == "a/b");
  CHECK(join_path("a/", "b") == "a/b");
  CHECK(join_path("", "b") == "b");
  CHECK(join_path("a", "/b") == "/b");
}

TEST_CASE("a crash forgets bytes and names that were not synced, each on its own") {
  auto disk = memory_disk::make();
  REQUIRE(disk->create_directories("/d"));
  REQUIRE(disk->sync_directory("/"));
  const auto write = [&](const std::string& path, bool sync) {
    auto file = disk->create(path);
    REQUIRE((*file)->append(text_bytes("abc")));
    if (sync)
      REQUIRE((*file)->sync());
    return std::move(*file);
  };
  write("/d/both", true);
  write("/d/name", false);
  REQUIRE(disk->sync_directory("/d"));
  auto open = write("/d/bytes", true);
  REQUIRE(disk->rename("/d/both", "/d/renamed"));
  const auto lock = disk->lock("/d");
  REQUIRE((*lock != nullptr));

  disk->crash();
  CHECK(names_in(*disk, "/d") == std::vector<std::string>{"both", "name"});
  CHECK(read_file(*disk, "/d/both") == "abc");
  CHECK(read_file(*disk, "/d/name") == "");
  CHECK(open->append(text_bytes("x")).error().category == errc::unavailable);
  CHECK(disk->lock("/d"));
}

TEST_CASE("a renamed directory keeps one of its names over a crash, with the files that were synced before") {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    auto disk = memory_disk::make();
    REQUIRE(disk->create_directories("/d/old"));
    for (const char* at : {"/", "/d"})
      REQUIRE(disk->sync_directory(at));
    REQUIRE(write_file_atomically(*disk, "/d/old", "x", "abc"));
    REQUIRE(disk->rename("/d/old", "/d/new"));
    disk->crash({.torn_tails = true, .entries_may_survive = true, .seed = seed});
    const auto names = names_in(*disk, "/d");
    REQUIRE(names.size() == 1);
    CHECK(read_file(*disk, "/d/" + names.front() + "/x") == "abc");
  }
}

TEST_CASE("a tree is removed without following links out of it") {
  const temporary_directory disk;
  auto fs = posix_file_system();
  REQUIRE(fs->create_directories(disk.path + "/tree/inner"));
  REQUIRE(fs->create_directories(disk.path + "/kept"));
  REQUIRE(write_file_atomically(*fs, disk.path + "/kept", "x", "abc"));
  REQUIRE(write_file_atomically(*fs, disk.path + "/tree/inner", "y", "abc"));
  REQUIRE(::symlink((disk.path + "/kept").c_str(), (disk.path + "/tree/link").c_str()) == 0);
  REQUIRE(remove_tree(*fs, disk.path + "/tree"));
  CHECK(names_in(*fs, disk.path) == std::vector<std::string>{"kept"});
  CHECK(read_file(*fs, disk.path + "/kept/x") == "abc");
}

TEST_CASE("a file that was created anew and not synced is the old one after a crash") {
  auto disk = memory_disk::make();
  REQUIRE(write_file_atomically(*disk, "", "f", "old"));
  auto file = disk->create("/f");
  REQUIRE((*file)->append(text_bytes("new")));
  disk->crash();
  CHECK(read_file(*disk, "/f") == "old");
}

TEST_CASE("with torn tails every length of an unsynced tail is met, and zeros; a rename never survives by half") {
  std::vector<std::string> contents;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    auto disk = memory_disk::make();
    REQUIRE(write_file_atomically(*disk, "", "to", "old"));
    auto file = disk->create("/from");
    REQUIRE((*file)->append(text_bytes("ab")));
    REQUIRE((*file)->sync());
    REQUIRE((*file)->append(text_bytes("cd")));
    REQUIRE(disk->rename("/from", "/to"));
    disk->crash({.torn_tails = true, .entries_may_survive = true, .seed = seed});
    contents.push_back(read_file(*disk, "/to").value());
    const bool survived = contents.back() != "old";
    CHECK_FALSE((survived && disk->info("/from")));
  }
  for (const auto& wanted :
       {std::string{"old"}, std::string{"ab"}, std::string{"abc"}, std::string{"abcd"}, std::string("ab\0\0", 4)})
    CHECK(std::find(contents.begin(), contents.end(), wanted) != contents.end());
}

TEST_CASE("a faulty file system fails the n-th call and every one after it, or one call of a kind once") {
  auto fs = faulty_file_system::around(memory_file_system());
  fs->fail_after(1);
  CHECK(fs->create_directories("/d"));
  CHECK(fs->list("/d").error().category == errc::unavailable);
  CHECK_FALSE(fs->info("/d"));
  CHECK(fs->calls() == 3);
  fs->heal();
  fs->inject({.operation = file_operation::append, .nth = 2, .path_contains = "f"});
  auto file = fs->create("/d/f");
  CHECK((*file)->append(text_bytes("a")));
  const auto full = (*file)->append(text_bytes("b"));
  REQUIRE_FALSE(full);
  CHECK(full.error() == error{errc::resource_exhausted, "cannot write /d/f: no space left on device (injected)"});
  CHECK((*file)->append(text_bytes("c")));
  CHECK(read_file(*fs, "/d/f") == "ac");
}

TEST_CASE("faults injected beside each other each happen once") {
  auto fs = faulty_file_system::around(memory_disk::make());
  fs->inject({.operation = file_operation::create, .path_contains = "a"});
  fs->inject({.operation = file_operation::create, .nth = 2, .reason = "quota exceeded"});
  fs->inject({.nth = 2, .reason = "input/output error"});
  CHECK(fs->create("/a").error().message == "cannot create /a: no space left on device (injected)");
  CHECK(fs->create("/a").error().message == "cannot create /a: quota exceeded (injected)");
  CHECK(has(fs->info("/").error().message, "input/output error"));
  CHECK(fs->create("/a"));
}

}  // namespace troupe
