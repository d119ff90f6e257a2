// A process of a search is killed at a file call between two iterations. Another one has to make the same choice from
// whatever is on disk.
#include "storage/files/faulty_file_system.hpp"
#include "support/ended_jobs.hpp"
#include "support/small_search.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// The search chooses by an evaluation and makes reports, or chooses by averages.
small_search searching(bool demands) {
  small_search s;
  s.search.max_iterations = 2;
  if (demands) {
    s.search.evaluator = search_evaluator{.input = small_dataset(16).batch(4)};
    s.search.report_materializer = report_materializer{.input = small_dataset(8).batch(4)};
  }
  return s;
}

constexpr auto architecture_file = "/run/architecture-0.json", reports_file = "/run/report/iteration_reports.json";

/// What a process has left of the choice at state 10.
enum class left_behind : uint8_t { last_state, part_of_grown_state, grown_state, architecture, reports, tick };

left_behind look_at(file_system& disk, const std::shared_ptr<file_system>& files) {
  const auto store = checkpoint_store::open(files, "/run", {.read_only = true});
  REQUIRE(store);
  const auto newest = (*store)->newest();
  REQUIRE(newest);
  if (newest->step > 10)
    return left_behind::tick;
  if (newest->iteration == 1) {
    if (read_file(disk, reports_file))
      return left_behind::reports;
    return read_file(disk, architecture_file) ? left_behind::architecture : left_behind::grown_state;
  }
  const auto all = disk.list("/run");
  REQUIRE(all);
  const bool begun = std::any_of(all->begin(), all->end(), [](const file_info& f) {
    return f.name.find("model.ckpt-10-iteration-1") != std::string::npos;
  });
  return begun ? left_behind::part_of_grown_state : left_behind::last_state;
}

bool told_commit(const simulated_job& job, checkpoint_id id) {
  const auto all = commits_of(job.events());
  return std::find(all.begin(), all.end(), id) != all.end();
}

struct ended_search {
  checkpoint_content state;
  std::string architecture, reports;
};

ended_search ended(const small_search& s, bool demands, uint64_t seed) {
  simulated_job job{prepare_search(s), seed};
  run_to_end(job);
  ended_search end{newest_checkpoint(s.o.files).content, read_file(*s.o.files, architecture_file).value(), {}};
  if (demands)
    end.reports = read_file(*s.o.files, reports_file).value();
  return end;
}

}  // namespace

TEST_CASE("a search is killed at file calls between two iterations, and ends in the same architecture and bits") {
  const int64_t apart = std::getenv("TROUPE_GROWTH_SEEDS") != nullptr ? 1 : 5;  // Set by --all.
  for (const bool demands : {false, true}) {
    CAPTURE(demands);
    const auto whole = ended(searching(demands), demands, 1);
    std::map<left_behind, int> places;
    bool over = false;
    for (int64_t calls = 0; !over; calls += apart) {
      CAPTURE(calls);
      auto s = searching(demands);
      const auto disk = memory_disk::make();
      const auto faulty = faulty_file_system::around(disk);
      s.o.files = faulty;
      {
        simulated_job job{prepare_search(s), 2};
        REQUIRE(job.crank_until([&] { return told_commit(job, {10}); }));
        faulty->fail_after(calls, calls % 2 == 0);
        REQUIRE(job.crank_until([&] { return faulty->failures() > 0 || job.progress().step > 11; }));
        over = faulty->failures() == 0;
      }
      if (calls % 3 == 0)  // The power fails, and not only the process.
        disk->crash({.torn_tails = true, .entries_may_survive = true, .seed = static_cast<uint64_t>(calls)});
      ++places[look_at(*disk, disk)];
      s.o.files = disk;
      const auto end = ended(s, demands, 3);
      CHECK(same_state(end.state, whole.state));
      CHECK(end.architecture == whole.architecture);
      CHECK(end.reports == whole.reports);
    }
    CHECK(places[left_behind::last_state] > 0);
    CHECK(places[left_behind::part_of_grown_state] > 0);
    CHECK(places[left_behind::grown_state] > 0);
    CHECK(places[left_behind::architecture] > 0);
    CHECK((places[left_behind::reports] > 0) == demands);
  }
}

}  // namespace troupe::test
