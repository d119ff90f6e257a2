// Watches of directories, on the real disk and in memory.
#include "storage/files/memory_file_system.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <latch>
#include <thread>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

struct both_disks {
  temporary_directory here;
  std::vector<std::pair<std::shared_ptr<file_system>, std::string>> all{{posix_file_system(), here.path},
                                                                        {memory_file_system(), "/m"}};

  both_disks() {
    for (const auto& [files, root] : all)
      REQUIRE(files->create_directories(root));
  }
};

std::unique_ptr<directory_watch> watch(file_system& files, const std::string& path) {
  auto made = files.watch(path);
  REQUIRE(made);
  return std::move(*made);
}

/// Returns whether something has changed, and takes all notes of it.
bool changed(directory_watch& w) {
  bool any = false;
  while (w.changed(0ms))
    any = true;
  return any;
}

void write(file_system& files, const std::string& path, std::string_view text) {
  REQUIRE(write_file_atomically(files, path.substr(0, path.rfind('/')), path.substr(path.rfind('/') + 1), text));
}

}  // namespace

TEST_CASE_FIXTURE(both_disks, "files that come, are replaced or go are changes, and looking is none") {
  for (const auto& [files, root] : all) {
    CAPTURE(root);
    const auto path = root + "/watched";
    REQUIRE(files->create_directories(path));
    const auto w = watch(*files, path);
    CHECK_FALSE(changed(*w));
    write(*files, path + "/checkpoint", "one");
    CHECK(changed(*w));
    CHECK_FALSE(changed(*w));
    CHECK(read_file(*files, path + "/checkpoint"));
    CHECK(files->list(path));
    CHECK_FALSE(changed(*w));
    write(*files, path + "/checkpoint", "two");
    CHECK(changed(*w));
    REQUIRE(files->remove(path + "/checkpoint"));
    CHECK(changed(*w));
    CHECK_FALSE(changed(*w));
  }
}

TEST_CASE_FIXTURE(both_disks, "a directory that is not there yet is watched: it comes, and then its files do") {
  for (const auto& [files, root] : all) {
    CAPTURE(root);
    const auto path = root + "/later/runs/a";
    const auto w = watch(*files, path);
    CHECK_FALSE(changed(*w));
    REQUIRE(files->create_directories(path));
    CHECK(changed(*w));
    write(*files, path + "/checkpoint", "one");
    CHECK(changed(*w));
    CHECK_FALSE(changed(*w));
  }
}

TEST_CASE_FIXTURE(both_disks, "a directory that is removed and made again is watched on") {
  for (const auto& [files, root] : all) {
    CAPTURE(root);
    const auto path = root + "/again";
    REQUIRE(files->create_directories(path));
    const auto w = watch(*files, path);
    REQUIRE(files->remove_empty_directory(path));
    CHECK(changed(*w));
    REQUIRE(files->create_directories(path));
    CHECK(changed(*w));
    write(*files, path + "/checkpoint", "one");
    CHECK(changed(*w));
  }
}

TEST_CASE_FIXTURE(both_disks, "who waits for a change is woken by it") {
  for (const auto& [files, root] : all) {
    CAPTURE(root);
    const auto w = watch(*files, root);
    std::latch waits{1};
    std::thread other{[&, &disk = files, &path = root] {
      waits.wait();
      write(*disk, path + "/file", "one");
    }};
    waits.count_down();
    CHECK(w->changed(60s));
    other.join();
    changed(*w);
    CHECK_FALSE(w->changed(1ms));
  }
}

}  // namespace troupe::test
