// The contents of event files, as inspection shows them, in memory that does not grow with the files.
#include "storage/events/event_log.hpp"
#include "storage/examination/examination.hpp"
#include "tests/storage/samples.hpp"
#include "tests/support/has.hpp"
#include "tests/support/repeated_file.hpp"

namespace troupe {

namespace {

struct event_files {
  std::shared_ptr<memory_disk> disk = memory_disk::make();

  /// Writes a file of a job that starts at step `from`, with a loss and a value of the tag `other` for each point.
  std::string written(double wall_time, int64_t from, std::initializer_list<std::pair<int64_t, double>> points,
                      const std::string& other = "rate") {
    auto log = event_log_writer::create(disk, "/m", {.host = "h", .wall_time = wall_time});
    REQUIRE(log);
    REQUIRE(
        (*log)->add({.wall_time = wall_time, .step = from, .note = session_note{.what = session_note::kind::start}}));
    for (const auto& [step, loss] : points)
      REQUIRE((*log)->add({.wall_time = wall_time,
                           .step = step,
                           .values = {{.tag = "loss", .scalar = loss}, {.tag = other, .scalar = 1}}}));
    REQUIRE((*log)->close());
    return (*log)->path();
  }
};

/// A file of 96 MiB: a version, then 96 times an event with a text of 1 MiB.
std::shared_ptr<repeated_file_system> large_event_file() {
  auto disk = memory_file_system();
  auto log = *event_log_writer::create(disk, "/m", {.host = "h", .wall_time = 1.6e9});
  const auto bytes = [&] {
    REQUIRE(log->flush());
    return *read_file(*disk, log->path());
  };
  const auto before = bytes();
  REQUIRE(log->add({.wall_time = 1.6e9,
                    .step = 1,
                    .values = {{.what = summary_value::kind::text, .tag = "notes", .text = std::string(1 << 20, 'x')},
                               {.tag = "loss", .scalar = 0.5}}}));
  return std::make_shared<repeated_file_system>(before, bytes().substr(before.size()), 96, "events.out.tfevents.1");
}

}  // namespace

TEST_CASE_FIXTURE(
    event_files,
    "points of a tag that a job made again count once, as it made them last, and damage ends a file, not the others") {
  using points = std::vector<std::pair<int64_t, double>>;
  const auto of = [&](const std::string& path) {
    const auto found = examine_event_points(*disk, path, "loss");
    REQUIRE_MESSAGE(found, (found ? "" : to_text(found.error())));
    points all;
    for (const auto& p : found->points)
      all.emplace_back(p.step, p.value->scalar);
    return std::pair{all, found->damages.size()};
  };
  const auto first = written(1.6e9, 1, {{1, 8}, {2, 4}, {3, 2}});
  const auto second = written(1.6e9 + 50, 3, {{3, 1}, {4, 0.5}});  // Resumed from state 2.
  CHECK(of("/m") == std::pair{points{{1, 8}, {2, 4}, {3, 1}, {4, 0.5}}, size_t{0}});
  CHECK(of(first) == std::pair{points{{1, 8}, {2, 4}, {3, 2}}, size_t{0}});
  CHECK(of(second) == std::pair{points{{3, 1}, {4, 0.5}}, size_t{0}});
  auto damaged = *read_file(*disk, first);
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  disk->overwrite(first, damaged);
  CHECK(of("/m") == std::pair{points{{1, 8}, {2, 4}, {3, 1}, {4, 0.5}}, size_t{1}});
  CHECK(of(first) == std::pair{points{{1, 8}, {2, 4}}, size_t{1}});
  const auto absent = examine_event_points(*disk, second, "accuracy");
  REQUIRE_FALSE(absent);
  CHECK(absent.error()
        == error{errc::not_found, second + " has no value of the tag 'accuracy'; there are: 'loss', 'rate'"});
}

TEST_CASE_FIXTURE(event_files, "the tags that there are do not include those whose values a later start took back") {
  written(1.6e9, 1, {{1, 8}, {2, 4}}, "early");
  written(1.6e9 + 50, 2, {{2, 3}}, "late");
  written(1.6e9 + 100, 2, {{2, 2}}, "last");
  const auto said = [&](std::string_view tag) {
    const auto found = examine_event_points(*disk, "/m", tag);
    return found ? "" : found.error().message;
  };
  CHECK(said("none") == "/m has no value of the tag 'none'; there are: 'early', 'last', 'loss'");
  CHECK(said("late") == "/m has no value of the tag 'late' left, since a job went on from a step before them; "
                        "there are: 'early', 'last', 'loss'");
  CHECK(said("early").empty());
}

TEST_CASE("whoever reads an event file holds a few events of it, whatever its size") {
  constexpr int64_t bound = 12 << 20;
  const std::string path = "/m/events.out.tfevents.1";
  SUBCASE("its report") {
    const auto files = large_event_file();
    const auto description = examine_event_file(*files, path);
    REQUIRE(description);
    CHECK(description->events == 97);
    CHECK(description->bytes_read == files->size());
    CHECK(description->tags.size() == 2);
    CHECK(files->held_max() < bound);
  }
  SUBCASE("the points of a tag") {
    const auto files = large_event_file();
    const auto points = examine_event_points(*files, path, "loss");
    REQUIRE(points);
    CHECK(points->points.size() == 96);
    CHECK(files->held_max() < bound);
  }
  SUBCASE("the history of evaluations") {
    const auto files = large_event_file();
    const auto history = read_evaluations(*files, "/m");
    REQUIRE(history);
    REQUIRE(history->size() == 1);
    CHECK(history->front().metrics.at("loss") == 0.5);
    CHECK(files->held_max() < bound);
  }
}

}  // namespace troupe
