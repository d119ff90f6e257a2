#include "storage/files/output_file.hpp"

#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <thread>

namespace troupe {

namespace {

namespace fs = std::filesystem;

/// Writes a whole output file.
expected<void> write_output(const std::shared_ptr<file_system>& files, const std::string& path,
                            std::string_view bytes) {
  auto file = output_file::create(files, path);
  if (!file)
    return fail(std::move(file.error()));
  return file->append(bytes).and_then([&] { return file->finish(); });
}

std::string output_error(const expected<void>& done) { return done ? "" : to_text(done.error()); }

std::string output_text(const std::string& path) { return *read_file(*posix_file_system(), path); }

std::vector<std::string> entries_below(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator{directory})
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("an output has its name only when it is complete, and its temporary name never after that") {
  const temporary_directory disk;
  const auto path = disk.path + "/out";
  {
    auto file = output_file::create(posix_file_system(), path);
    REQUIRE(file);
    CHECK_FALSE(file->is_stream());
    REQUIRE(file->append("half"));
    REQUIRE(file->flush());
    CHECK(entries_below(disk.path) == std::vector<std::string>{"out.tmp"});
  }
  CHECK(entries_below(disk.path).empty());
  const std::string large(3 * output_file::buffer_bytes + 5, 'x');
  REQUIRE(write_output(posix_file_system(), path, large));
  CHECK(output_text(path) == large);
  CHECK(entries_below(disk.path) == std::vector<std::string>{"out"});
}

TEST_CASE(
    "an output that is a link stays one, and the file at the end of the links is replaced, also where there is none "
    "yet") {
  const temporary_directory disk;
  fs::create_directory(disk.path + "/data");
  fs::create_symlink("data/second", disk.path + "/first");
  fs::create_symlink("target", disk.path + "/data/second");
  for (const std::string text : {"new", "newer"}) {
    REQUIRE(write_output(posix_file_system(), disk.path + "/first", text));
    CHECK(fs::is_symlink(disk.path + "/first"));
    CHECK(fs::is_symlink(disk.path + "/data/second"));
    CHECK(output_text(disk.path + "/data/target") == text);
    CHECK(entries_below(disk.path + "/data") == std::vector<std::string>{"second", "target"});
  }
}

TEST_CASE("a device is written as it is: a full one is an error that names it, and it is a device afterwards") {
  const temporary_directory disk;
  fs::create_symlink("/dev/full", disk.path + "/link");
  for (const auto& path : {std::string{"/dev/full"}, disk.path + "/link"}) {
    const auto full = write_output(posix_file_system(), path, "text");
    REQUIRE_FALSE(full);
    CHECK(full.error().category == errc::resource_exhausted);
    CHECK(full.error().message == "cannot write " + path + ": No space left on device");
  }
  CHECK(output_error(write_output(posix_file_system(), "/dev/null", "text")) == "");
  for (const char* device : {"/dev/full", "/dev/null"})
    CHECK(fs::is_character_file(device));
  CHECK(entries_below(disk.path) == std::vector<std::string>{"link"});
}

TEST_CASE("a pipe is written as it is and stays a pipe, and one whose reader has gone is an error that names it") {
  const temporary_directory disk;
  const auto path = disk.path + "/pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  std::string received;
  std::thread reader{[&] {
    std::ifstream in{path};
    received.assign(std::istreambuf_iterator<char>{in}, {});
  }};
  CHECK(output_error(write_output(posix_file_system(), path, "text")) == "");
  reader.join();
  CHECK(received == "text");
  ::signal(SIGPIPE, SIG_IGN);
  std::thread leaving{[&] { ::close(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); }};
  auto file = output_file::create(posix_file_system(), path);
  leaving.join();
  REQUIRE(file);
  CHECK(file->is_stream());
  const auto broken = file->append("text").and_then([&] { return file->finish(); });
  REQUIRE_FALSE(broken);
  CHECK(broken.error().message == "cannot write " + path + ": Broken pipe");
  CHECK(fs::is_fifo(path));
  CHECK(entries_below(disk.path) == std::vector<std::string>{"pipe"});
}

TEST_CASE("what has the temporary name is replaced: a link is not followed, and a pipe not waited for") {
  const temporary_directory disk;
  const auto path = disk.path + "/out", temporary = disk.path + "/out.tmp";
  std::ofstream{disk.path + "/mine"} << "mine";
  fs::create_symlink("mine", temporary);
  CHECK(output_error(write_output(posix_file_system(), path, "1")) == "");
  CHECK(output_text(disk.path + "/mine") == "mine");
  REQUIRE(::mkfifo(temporary.c_str(), 0600) == 0);
  CHECK(output_error(write_output(posix_file_system(), path, "2")) == "");
  std::ofstream{temporary} << "of a process that died";
  CHECK(output_error(write_output(posix_file_system(), path, "3")) == "");
  CHECK(output_text(path) == "3");
  CHECK(entries_below(disk.path) == std::vector<std::string>{"mine", "out"});
}

TEST_CASE("an output whose temporary name another program removed or took is an error, and the other's file stays") {
  const temporary_directory disk;
  const auto path = disk.path + "/out", temporary = disk.path + "/out.tmp";
  for (const bool taken : {false, true}) {
    CAPTURE(taken);
    auto file = output_file::create(posix_file_system(), path);
    REQUIRE(file);
    REQUIRE(file->append("text"));
    fs::remove(temporary);
    if (taken)
      std::ofstream{temporary} << "other";
    const auto lost = file->finish();
    REQUIRE_FALSE(lost);
    CHECK(lost.error().category == errc::failed_precondition);
    CHECK(has(lost.error().message,
              temporary + " was removed, replaced or truncated by another program while it was written: " + path
                  + " is not written"));
  }
  CHECK(output_text(temporary) == "other");
  CHECK(entries_below(disk.path) == std::vector<std::string>{"out.tmp"});
}

TEST_CASE("an output that cannot be is refused before anything is written, naming its path") {
  const temporary_directory disk;
  const auto refused = [&](const std::string& path, errc category, const std::string& text) {
    const auto file = output_file::create(posix_file_system(), path);
    REQUIRE_FALSE(file);
    CHECK(file.error().category == category);
    CHECK_MESSAGE(has(file.error().message, text), file.error().message);
  };
  refused(disk.path, errc::failed_precondition, "cannot write to " + disk.path + ": it is a directory");
  refused(disk.path + "/none/out", errc::not_found, disk.path + "/none/out");
  fs::create_symlink("loop", disk.path + "/loop");
  refused(disk.path + "/loop", errc::failed_precondition, disk.path + "/loop");
  std::ofstream{disk.path + "/file"} << "text";
  refused(disk.path + "/file/out", errc::failed_precondition, disk.path + "/file/out");
  CHECK(output_text(disk.path + "/file") == "text");
}

TEST_CASE(
    "after a fault at any call of an output the old file or the new one is there, and no temporary one that could be "
    "removed") {
  for (int64_t nth = 1, calls = nth; nth <= calls; ++nth) {
    CAPTURE(nth);
    const auto disk = faulty_file_system::around(memory_disk::make());
    REQUIRE(disk->create_directories("/d"));
    REQUIRE(write_file_atomically(*disk, "/d", "out", "old"));
    const auto before = disk->calls();
    disk->inject({.nth = nth});
    const auto done = write_output(disk, "/d/out", "new");
    calls = disk->calls() - before;
    CHECK(read_file(*disk, "/d/out") == (done || has(done.error().message, "sync directory") ? "new" : "old"));
    CHECK(names_in(*disk, "/d") == std::vector<std::string>{"out"});
  }
}

}  // namespace troupe
