#include "actors/writers/summary_writer.hpp"

#include "storage/files/faulty_file_system.hpp"
#include "support/simulation.hpp"
#include "tests/support/has.hpp"
#include "tests/support/whole_event_log.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

struct summary_writer_alone : simulation {
  std::shared_ptr<file_system> files = memory_file_system();
  recorder<failure, log_replaced> chief = simulation::record<failure, log_replaced>();
  recorder<record_credit> outfeed = simulation::record<record_credit>();
  recorder<snapshot_part> parts = simulation::record<snapshot_part>();
  summary_writer_options options{.directory = "/run/eval", .host = "here", .wall_offset = 1'700'000'000};
  summary_writer_actor writer;

  void start() {
    options.files = files;
    writer = spawn(summary_writer, options, chief.as<log_listener_actor>());
    tell(writer, connect_parts{parts.as<part_sink_actor>()});
  }
  void write(int64_t number, int64_t step, double value = 0.5) {
    tell_as(outfeed.handle(), writer, troupe::record{1, number, step, {{.tag = "loss", .scalar = value}}});
  }
  std::vector<std::string> paths() { return *list_event_logs(*files, "/run/eval"); }
  /// The events in the file at this moment.
  std::vector<log_event> events() {
    auto all = read_whole_log(*files, paths().at(0));
    REQUIRE(all);
    CHECK_FALSE(all->damage);
    return all->events;
  }
};

}  // namespace

TEST_CASE_FIXTURE(summary_writer_alone, "records reach the file two seconds after the first of them, and not before") {
  start();
  CHECK(paths().empty());
  write(0, 100);
  write(1, 200);
  REQUIRE(paths().size() == 1);
  CHECK(has(paths()[0], "events.out.tfevents.17000000"));
  CHECK(events().size() == 1);
  advance_time(std::chrono::milliseconds{1'990});
  CHECK(events().size() == 1);
  advance_time(std::chrono::milliseconds{20});
  REQUIRE(events().size() == 3);
  CHECK(events()[1].step == 100);
  CHECK(events()[1].wall_time >= 1'700'000'000);
  CHECK(events()[2].values.at(0).tag == "loss");
  write(2, 300);
  advance_time(std::chrono::seconds{2});
  CHECK_MESSAGE(events().size() == 4, "the timer is set again by the next record");
}

TEST_CASE_FIXTURE(summary_writer_alone,
                  "a record that is paid for is answered by room for as many more, others by nothing") {
  start();
  write(0, 100);
  write(1, 200);
  write(-1, 300);
  REQUIRE(outfeed.count<record_credit>() == 2);
  CHECK(outfeed.all<record_credit>()[0].until_number == 11);
  CHECK(outfeed.all<record_credit>()[1].until_number == 12);
}

TEST_CASE_FIXTURE(summary_writer_alone,
                  "the result of an evaluation is in the file at once, whether it is paid for or not") {
  options.of_evaluations = true;
  start();
  write(-1, 300);
  REQUIRE(events().size() == 2);
  CHECK(events()[1].step == 300);
  write(0, 400);
  REQUIRE(events().size() == 3);
  CHECK(events()[2].step == 400);
}

TEST_CASE_FIXTURE(summary_writer_alone,
                  "many bytes are handed to the file system at once and do not wait for the timer") {
  options.unflushed_bytes_max = 200;
  start();
  for (int64_t n = 0; n < 20; ++n)
    write(n, n);
  CHECK(events().size() > 10);
}

TEST_CASE_FIXTURE(summary_writer_alone,
                  "[EST-61] the version comes first, then the notes of a session's start and of every checkpoint") {
  start();
  tell(writer, note{note::start, 40, {}});
  tell(writer, note{note::checkpoint, 50, "/run/model.ckpt-50"});
  tell(writer, finish_log{});
  const auto all = events();
  REQUIRE(all.size() == 3);
  CHECK(all[0].file_version == "brain.Event:2");
  REQUIRE(all[1].note);
  CHECK(all[1].note->what == session_note::kind::start);
  CHECK_MESSAGE(all[1].step == 41, "readers drop that step and what follows; state 40 stands");
  REQUIRE(all[2].note);
  CHECK(all[2].note->what == session_note::kind::checkpoint);
  CHECK(all[2].note->checkpoint_path == "/run/model.ckpt-50");
  CHECK(all[2].step == 50);
}

TEST_CASE_FIXTURE(
    summary_writer_alone,
    "records for other directories are in files of these, each of which begins with the session's start") {
  options = {.directory = "/run", .folder = "eval", .host = "here", .wall_offset = 1'700'000'000};
  options.awaits_start = true;
  start();
  const auto record_to = [&](int64_t number, int64_t step, const std::string& directory) {
    tell_as(outfeed.handle(), writer,
            troupe::record{1, number, step, {}, {{directory, {{.tag = "loss", .scalar = 0.5}}}}});
  };
  record_to(0, 50, "ensemble/a");
  CHECK_MESSAGE(list_event_logs(*files, "/run/ensemble/a/eval")->empty(), "it waits for the note");
  tell(writer, note{note::start, 40, {}});
  tell(writer, note{note::checkpoint, 50, "/run/model.ckpt-50"});
  record_to(1, 60, "ensemble/b");
  record_to(2, 60, "ensemble/a");
  tell(writer, finish_log{});
  CHECK_MESSAGE(events().size() == 3, "the start and the checkpoint, after the version");
  const auto events_of = [&](const std::string& directory) {
    const auto log = read_whole_log(*files, list_event_logs(*files, directory)->at(0));
    REQUIRE(log);
    return log->events;
  };
  CHECK(events_of("/run/ensemble/a/eval").size() == 3);
  CHECK(events_of("/run/ensemble/b/eval").size() == 3);
  for (const auto& directory : {"/run/ensemble/a/eval", "/run/ensemble/b/eval"}) {
    REQUIRE(events_of(directory)[1].note);
    CHECK(events_of(directory)[1].step == 41);
    CHECK(events_of(directory)[2].values.at(0).tag == "loss");
  }
}

TEST_CASE_FIXTURE(summary_writer_alone,
                  "asked to finish, it writes what it holds and ends; without a word it leaves no file") {
  start();
  SUBCASE("with records") {
    write(0, 1);
    tell(writer, finish_log{});
    CHECK(events().size() == 2);
  }
  SUBCASE("without") {
    tell(writer, finish_log{});
    CHECK(paths().empty());
  }
  CHECK(writer->getf(caf::abstract_actor::is_terminated_flag));
}

TEST_CASE_FIXTURE(summary_writer_alone,
                  "a part of a snapshot is passed on, and by then all records before it are in the file") {
  start();
  write(0, 100);
  write(1, 200);
  CHECK(events().size() == 1);
  tell(writer, snapshot_part{1, 200, 5_node});
  REQUIRE(parts.count<snapshot_part>() == 1);
  CHECK(parts.last<snapshot_part>().step == 200);
  CHECK(parts.last<snapshot_part>().part == 5_node);
  CHECK(events().size() == 3);
  CHECK_MESSAGE(outfeed.count<record_credit>() == 2, "it is not paid for");
}

TEST_CASE_FIXTURE(summary_writer_alone,
                  "a part goes to the checkpoint writer that was named last, and over a disk that is full too") {
  const auto faulty = faulty_file_system::around(files);
  files = faulty;
  start();
  auto second = simulation::record<snapshot_part>();
  tell(writer, connect_parts{second.as<part_sink_actor>()});
  write(0, 1);
  faulty->inject({.operation = file_operation::append});
  tell(writer, snapshot_part{1, 1, 5_node});
  CHECK(chief.count<failure>() == 1);
  CHECK(second.count<snapshot_part>() == 1);
  CHECK(parts.count<snapshot_part>() == 0);
}

TEST_CASE_FIXTURE(summary_writer_alone,
                  "a disk that is full is one failure that names the writer, and nobody waits for room") {
  const auto faulty = faulty_file_system::around(files);
  files = faulty;
  start();
  write(0, 1);
  faulty->inject({.operation = file_operation::append});
  advance_time(std::chrono::seconds{2});
  for (int64_t n = 1; n < 5; ++n)
    write(n, n);
  advance_time(std::chrono::seconds{10});
  REQUIRE(chief.count<failure>() == 1);
  CHECK(chief.last<failure>().what.category == errc::resource_exhausted);
  CHECK(chief.last<failure>().what.source == "summary_writer");
  CHECK(outfeed.count<record_credit>() == 5);
}

TEST_CASE_FIXTURE(
    summary_writer_alone,
    "an event file that somebody removes is reported once, and the records that follow are in a new one") {
  start();
  write(0, 1);
  advance_time(std::chrono::seconds{2});
  REQUIRE(files->remove(paths().at(0)));
  write(1, 2);
  write(2, 3);
  advance_time(std::chrono::seconds{2});
  REQUIRE(chief.count<log_replaced>() == 1);
  CHECK(has(chief.last<log_replaced>().text, "was removed, replaced or truncated by another program"));
  write(3, 4);
  tell(writer, finish_log{});
  CHECK(chief.count<log_replaced>() == 1);
  CHECK(chief.count<failure>() == 0);
  const auto found = events();
  REQUIRE(found.size() == 4);
  CHECK(found[0].file_version == "brain.Event:2");
  for (size_t i = 1; i < 4; ++i)
    CHECK(found[i].step == static_cast<int64_t>(i) + 1);
}

TEST_CASE_FIXTURE(summary_writer_alone,
                  "records that overtake the note of the start follow it in the file, and are paid for then") {
  options.awaits_start = true;
  start();
  write(0, 110);
  write(1, 120);
  CHECK(paths().empty());
  CHECK(outfeed.count<record_credit>() == 0);
  tell(writer, note{note::start, 100, {}});
  write(2, 130);
  CHECK(outfeed.count<record_credit>() == 3);
  tell(writer, finish_log{});
  const auto found = events();
  REQUIRE(found.size() == 5);  // Version, START and three records.
  CHECK(found[1].step == 101);
  CHECK(found[2].step == 110);
  CHECK(found[4].step == 130);
}

}  // namespace troupe::test
