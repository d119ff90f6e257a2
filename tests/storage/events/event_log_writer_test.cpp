// The files of event logs: their names, what reaches them when, and what full disks and lost power leave of them.
#include "storage/events/event_log.hpp"
#include "storage/files/faulty_file_system.hpp"
#include "storage/records/record_framing.hpp"
#include "tests/storage/events/scalar_log.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"
#include "tests/support/whole_event_log.hpp"

namespace troupe {

using namespace test;

TEST_CASE("names of event files are new and sort after those that are there, whatever the clock does") {
  auto fs = memory_file_system();
  const auto name = [&](double wall_time, const std::string& host) {
    const auto log = open_log(fs, wall_time, host);
    return log->path();
  };
  CHECK(name(1'700'000'000.9, "node") == "/m/events.out.tfevents.1700000000.node");
  CHECK(name(1'700'000'000.9, "node") == "/m/events.out.tfevents.1700000001.node");  // The clock stands still.
  CHECK(name(1'700'000'001, "other") == "/m/events.out.tfevents.1700000001.other");
  CHECK(name(1'700'000'001, "a") == "/m/events.out.tfevents.1700000002.a");
  CHECK(name(5, "a") == "/m/events.out.tfevents.1700000003.a");  // The clock goes back.
  CHECK(name(1'800'000'000, "a") == "/m/events.out.tfevents.1800000000.a");
  CHECK(name(9'999'999'999, "a") == "/m/events.out.tfevents.9999999999.a");
  CHECK(name(5, "a") == "/m/events.out.tfevents.9999999999.a.1");  // No later second exists.
  CHECK(name(5, "a") == "/m/events.out.tfevents.9999999999.a.1.1");
  const auto names = names_of(*fs);
  CHECK(names.size() == 9);
  CHECK(std::is_sorted(names.begin(), names.end()));
}

TEST_CASE("a name of a thousand files made within one second is always new and the greatest") {
  auto fs = memory_file_system();
  std::string last;
  for (int i = 0; i < 1000; ++i) {
    const auto path = open_log(fs)->path();
    CHECK(path > last);
    last = path;
  }
  CHECK(names_of(*fs).size() == 1000);
}

TEST_CASE("a host or a time that cannot be in a file's name is refused") {
  for (const auto& options :
       {event_log_options{.host = "", .wall_time = 1}, event_log_options{.host = "../x", .wall_time = 1},
        event_log_options{.host = "a", .wall_time = -1}, event_log_options{.host = "a", .wall_time = 1e10},
        event_log_options{.host = "a", .wall_time = std::numeric_limits<double>::quiet_NaN()}})
    CHECK(event_log_writer::create(memory_file_system(), "/m", options).error().category == errc::invalid_argument);
}

TEST_CASE("only event files are listed, in order; a directory without any, or none, is an empty list") {
  auto fs = memory_file_system();
  CHECK(list_event_logs(*fs, "/m")->empty());
  REQUIRE(fs->create_directories("/m/events.out.tfevents.9.directory"));
  REQUIRE(write_file_atomically(*fs, "/m", "checkpoint", "x"));
  CHECK(list_event_logs(*fs, "/m")->empty());
  const auto second = open_log(fs, 1'700'000'002)->path();
  REQUIRE(write_file_atomically(*fs, "/m", "events.out.tfevents.1600000000.elsewhere", "x"));
  CHECK(*list_event_logs(*fs, "/m") == std::vector<std::string>{"/m/events.out.tfevents.1600000000.elsewhere", second});
}

TEST_CASE("whole records reach the file in one append at each flush, and nothing in between") {
  auto disk = memory_file_system();
  auto fs = faulty_file_system::around(disk);
  auto log = open_log(fs);
  const auto calls = fs->calls();
  for (int64_t step = 0; step < 10; ++step)
    REQUIRE(log->add(scalar_at(step, 1)));
  CHECK(fs->calls() == calls);
  const auto pending = log->unflushed_bytes();
  CHECK(pending > 0);
  REQUIRE(log->flush());
  CHECK(fs->calls() == calls + 2);  // A check of the file's place, and the append.
  CHECK(log->unflushed_bytes() == 0);
  REQUIRE(log->flush());  // There is nothing to flush.
  CHECK(fs->calls() == calls + 2);
  CHECK(disk->info(log->path())->size == version_record_bytes + pending);
  CHECK(read_whole_log(*disk, log->path())->events.size() == 11);
}

TEST_CASE("a full disk leaves what was flushed readable, and the writer says so ever after") {
  auto disk = memory_file_system();
  auto fs = faulty_file_system::around(disk);
  auto log = open_log(fs);
  REQUIRE(log->add(scalar_at(1, 1)));
  REQUIRE(log->flush());
  REQUIRE(log->add(scalar_at(2, 1)));
  fs->fail_after(0, true);
  const auto failed = log->flush();
  REQUIRE_FALSE(failed);
  fs->heal();
  CHECK(log->flush().error() == failed.error());
  CHECK(log->add(scalar_at(3, 1)).error() == failed.error());
  CHECK(log->close().error() == failed.error());
  const auto read = *read_whole_log(*disk, log->path());
  CHECK(read.events.size() == 2);
  CHECK(read.truncated);
  CHECK_FALSE(read.damage);
}

TEST_CASE("a closed file survives a loss of power, and a closed writer reports that it is closed") {
  auto disk = memory_disk::make();
  auto log = open_log(disk);
  REQUIRE(disk->sync_directory("/"));
  REQUIRE(log->add(scalar_at(1, 1)));
  REQUIRE(log->close());
  CHECK(log->add(scalar_at(2, 1)).error().category == errc::state);
  CHECK(log->close().error().category == errc::state);
  disk->crash();
  CHECK(read_whole_log(*disk, log->path())->events.size() == 2);
}

TEST_CASE("an error of every single call on the file system is returned, and never crashes") {
  auto run = [](file_system& any, std::shared_ptr<file_system> fs) -> expected<void> {
    auto log = event_log_writer::create(std::move(fs), "/m", {.wall_time = logged_at});
    if (!log)
      return fail(log.error());
    return (*log)->add(scalar_at(1, 1)).and_then([&] { return (*log)->close(); }).and_then([&]() -> expected<void> {
      auto read = read_whole_log(any, (*log)->path());
      if (!read)
        return fail(read.error());
      return {};
    });
  };
  auto counting = faulty_file_system::around(memory_file_system());
  REQUIRE(run(*counting, counting));
  for (int64_t n = 0; n < counting->calls(); ++n) {
    auto fs = faulty_file_system::around(memory_file_system());
    fs->fail_after(n, true);
    const auto result = run(*fs, fs);
    REQUIRE_FALSE(result);
    CHECK(result.error().category == errc::unavailable);
  }
}

}  // namespace troupe
