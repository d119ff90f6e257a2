// The files of event writers: each writer has a file of its own, and the files can be read whatever their paths
// contain.
#include "storage/encodings/utf8.hpp"
#include "storage/events/event_log.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/delegating_file_system.hpp"
#include "tests/support/whole_event_log.hpp"

#include <functional>

namespace troupe {

namespace {

constexpr double now = 1'700'000'000.25;

/// A file system whose first listing is empty, as if another writer created its file just afterwards.
struct blind final : delegating_file_system {
  using delegating_file_system::delegating_file_system;
  expected<std::vector<file_info>> list(const std::string& path) override {
    auto found = delegating_file_system::list(path);
    if (found && stale-- > 0)
      found->clear();
    return found;
  }
  int stale = 1;
};

}  // namespace

TEST_CASE("writers that begin in the same second on the same host have a file each, whichever looked first") {
  const temporary_directory disk;
  for (const auto& [fs, directory] :
       {std::pair{memory_file_system(), std::string{"/m"}}, {posix_file_system(), disk.path}}) {
    CAPTURE(directory);
    std::vector<std::string> paths;
    for (int writer = 0; writer < 3; ++writer) {
      auto log = event_log_writer::create(std::make_shared<blind>(fs), directory, {.host = "node", .wall_time = now});
      REQUIRE_MESSAGE(log, (log ? "" : to_text(log.error())));
      REQUIRE((*log)->add({.wall_time = now, .step = writer + 1, .values = {{.tag = "loss", .scalar = 0.5}}}));
      REQUIRE((*log)->close());
      paths.push_back((*log)->path());
    }
    CHECK(list_event_logs(*fs, directory) == paths);
    for (int writer = 0; writer < 3; ++writer)
      CHECK(read_whole_log(*fs, paths[static_cast<size_t>(writer)])->events.at(1).step == writer + 1);
  }
}

TEST_CASE("a note of a path that is no text is written as far as it is text, and the file is read to its end") {
  auto fs = memory_file_system();
  auto writer = event_log_writer::create(fs, "/m", {.host = "node", .wall_time = now});
  REQUIRE(writer);
  REQUIRE((*writer)->add(
      {.step = 3, .note = session_note{session_note::kind::checkpoint, "/runs/\xff\xc3m/model.ckpt-3", "\xe2\x82"}}));
  REQUIRE((*writer)->close());
  const auto log = *read_whole_log(*fs, (*writer)->path());
  CHECK_FALSE(log.damage);
  REQUIRE(log.events.size() == 2);
  CHECK(log.events[1].note->checkpoint_path == "/runs/\xef\xbf\xbd\xef\xbf\xbdm/model.ckpt-3");
  CHECK(log.events[1].note->message == "\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(as_utf8("gr\xc3\xb6\xc3\x9f" "e") == "gr\xc3\xb6\xc3\x9f" "e");
}

TEST_CASE(
    "events go on in a new file, with one remark, where the old one was removed, replaced or truncated, or its "
    "directory was removed") {
  const temporary_directory disk;
  const auto directory = disk.path + "/m";
  const auto fs = posix_file_system();
  const auto value = [](int64_t step) {
    return log_event{
        .wall_time = now + static_cast<double>(step), .step = step, .values = {{.tag = "loss", .scalar = 1}}};
  };
  const std::vector<std::pair<std::string, std::function<void(const std::string&)>>> losses{
      {"removed", [&](const std::string& path) { CHECK(fs->remove(path)); }},
      {"replaced",
       [&](const std::string& path) {
         CHECK(write_file_atomically(*fs, directory, path.substr(path.rfind('/') + 1), "another's"));
       }},
      {"emptied", [&](const std::string& path) { std::filesystem::resize_file(path, 0); }},
      {"cut",
       [&](const std::string& path) { std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1); }},
      {"directory", [&](const std::string&) { std::filesystem::remove_all(directory); }}};
  for (const auto& [how, lose] : losses) {
    CAPTURE(how);
    std::filesystem::remove_all(directory);
    auto writer = event_log_writer::create(fs, directory, {.host = "node", .wall_time = now});
    REQUIRE(writer);
    auto& log = **writer;
    REQUIRE(log.add(value(1)));
    REQUIRE(log.flush());
    const auto lost = log.path();
    lose(lost);
    REQUIRE(log.add(value(2)));
    REQUIRE(log.add(value(3)));
    REQUIRE(log.flush());
    const auto remark = log.take_remark();
    REQUIRE(remark);
    CHECK(
        *remark
        == lost
               + " was removed, replaced or truncated by another program, and what it had may be lost; events go on in "
               + log.path());
    CHECK_FALSE(log.take_remark());
    REQUIRE(log.add(value(4)));
    REQUIRE(log.close());
    CHECK_FALSE(log.take_remark());
    const auto rest = *read_whole_log(*fs, log.path());
    CHECK_FALSE(rest.damage);
    REQUIRE(rest.events.size() == 4);
    CHECK(rest.events[0].file_version == "brain.Event:2");
    for (size_t i = 1; i < 4; ++i)
      CHECK(rest.events[i].step == static_cast<int64_t>(i) + 1);
    CHECK(list_event_logs(*fs, directory)->back() == log.path());
  }
}

TEST_CASE("an event file that cannot be looked at is written as before") {
  const auto disk = faulty_file_system::around(memory_file_system());
  auto log = event_log_writer::create(disk, "/m", {.host = "node", .wall_time = now});
  REQUIRE(log);
  disk->inject({.operation = file_operation::info});
  REQUIRE((*log)->add({.step = 1, .values = {{.tag = "loss", .scalar = 1}}}));
  CHECK((*log)->close());
  CHECK(disk->failures() == 1);
  CHECK_FALSE((*log)->take_remark());
  CHECK(read_whole_log(*disk, (*log)->path())->events.size() == 2);
  CHECK(list_event_logs(*disk, "/m")->size() == 1);
}

}  // namespace troupe
