// Tests `is_in_place`: whether the path of a file that is being written still leads to it.
#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace troupe {

namespace {

std::span<const std::byte> place_bytes(std::string_view text) { return std::as_bytes(std::span{text}); }

std::unique_ptr<writable_file> file_written(file_system& fs, const std::string& path) {
  auto file = fs.create(path);
  REQUIRE(file);
  REQUIRE((*file)->append(place_bytes("some bytes")));
  return std::move(*file);
}

/// Tests a file system in a directory of its own.
void check_places(file_system& fs, const std::string& directory) {
  const auto path = join_path(directory, "a"), other = join_path(directory, "b");
  auto file = file_written(fs, path);
  CHECK(file->is_in_place() == true);
  REQUIRE(file->append(place_bytes("more")));
  CHECK(file->is_in_place() == true);
  REQUIRE(fs.rename(path, other));
  CHECK(file->is_in_place() == false);
  REQUIRE(fs.rename(other, path));
  CHECK(file->is_in_place() == true);
  REQUIRE(fs.remove(path));
  CHECK(file->is_in_place() == false);
  auto successor = file_written(fs, path);
  CHECK(file->is_in_place() == false);
  CHECK(successor->is_in_place() == true);
  auto truncating = fs.create(path);
  REQUIRE(truncating);
  CHECK(successor->is_in_place() == false);
  CHECK((*truncating)->is_in_place() == true);
}

}  // namespace

TEST_CASE(
    "a file that was renamed, removed, replaced or truncated is not in its place, on the disk, in memory and wrapped "
    "to fail") {
  const temporary_directory disk;
  check_places(*posix_file_system(), disk.path);
  auto memory = memory_file_system();
  REQUIRE(memory->create_directories("/d"));
  check_places(*memory, "/d");
  auto faulty = faulty_file_system::around(memory_file_system());
  REQUIRE(faulty->create_directories("/d"));
  check_places(*faulty, "/d");
  auto file = file_written(*faulty, "/d/a");
  faulty->inject({.operation = file_operation::info});
  CHECK_FALSE(file->is_in_place());
  CHECK(file->is_in_place() == true);
}

TEST_CASE("a file whose directory was removed or moved away is not in its place") {
  auto disk = memory_disk::make();
  REQUIRE(disk->create_directories("/m/d"));
  auto file = file_written(*disk, "/m/d/a");
  disk->remove_directory("/m");
  CHECK(file->is_in_place() == false);
  const temporary_directory real;
  std::filesystem::create_directory(real.path + "/d");
  auto moved = file_written(*posix_file_system(), real.path + "/d/a");
  std::filesystem::rename(real.path + "/d", real.path + "/e");
  CHECK(moved->is_in_place() == false);
}

TEST_CASE("a device and a pipe are in their place, whatever was written") {
  CHECK(file_written(*posix_file_system(), "/dev/null")->is_in_place() == true);
  const temporary_directory disk;
  const auto path = disk.path + "/pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  CHECK(file_written(*posix_file_system(), path)->is_in_place() == true);
  ::close(reader);
}

}  // namespace troupe
