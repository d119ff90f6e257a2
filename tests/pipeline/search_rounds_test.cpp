// Rounds of workers beside a search that is their chief: slow, dead and returning, on virtual time and a memory disk.
#include "ensemble/rounds.hpp"
#include "support/ended_jobs.hpp"
#include "support/small_search.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

/// What the newest checkpoint on the disk says. The disk is that of the chief.
std::optional<round_news> news_on(const std::shared_ptr<file_system>& files) {
  const auto store = checkpoint_store::open(files, "/run", {.read_only = true});
  const auto newest = store ? (*store)->inspect_newest() : fail(store.error());
  if (!newest)
    return std::nullopt;
  const auto books = parse_books(newest->blobs.at(std::string{search_books_blob}), newest->prefix);
  REQUIRE(books);
  return round_news{newest->id.iteration, books->global_step};
}

/// A worker that "trains" each iteration for a time, by the clock of the chief's world.
struct timed_worker {
  simulated_job& world;
  std::shared_ptr<file_system> files;
  round_rules rules;
  int64_t task = 0;
  round_time training{};                                   ///< Of an iteration.
  std::vector<std::pair<int64_t, round_time>> begun = {};  ///< Iterations, and when.
  std::optional<leave_search> left = {};
  round_time left_at{};

  round_time now() const { return world.now(); }
  void begin(int64_t iteration) {
    begun.emplace_back(iteration, now());
    world.after(training, [this, iteration] { wait(round_wait{rules, task, iteration, now()}); });
  }
  void wait(const round_wait& round) {
    const auto step = round.look(now(), news_on(files));
    if (const auto* again = std::get_if<look_later>(&step))
      at(again->at, [this, round] { wait(round); });
    else if (const auto* next = std::get_if<begin_iteration>(&step))
      at(next->at, [this, iteration = next->iteration] { begin(iteration); });
    else
      left = std::get<leave_search>(step), left_at = now();
  }
  void at(round_time when, std::function<void()> what) { world.after(when - now(), std::move(what)); }
};

/// Three iterations of 10 ticks, 30 steps in all.
small_search three_rounds() {
  small_search s;
  s.o.max_steps = 30;
  return s;
}

/// A world in which a report of steps takes a tenth of a second.
world_conditions takes_time() {
  constexpr std::chrono::milliseconds tenth{100};
  return {.cost = {{"outfeed", {tenth, tenth}}}};
}

constexpr round_rules brief{.delay_secs_per_worker = 0.2,
                            .max_worker_delay_secs = 1,
                            .worker_wait_secs = 1,
                            .worker_wait_timeout_secs = 180,
                            .max_steps = 30};

std::vector<int64_t> iterations_of(const timed_worker& w) {
  std::vector<int64_t> all;
  for (const auto& [iteration, when] : w.begun)
    all.push_back(iteration);
  return all;
}

}  // namespace

TEST_CASE("workers follow the iterations of the chief one after the other, and leave when the search has ended") {
  auto s = three_rounds();
  simulated_job chief{prepare_search(s), 1, takes_time()};
  std::vector<timed_worker> workers;
  for (int64_t task = 0; task < 3; ++task)
    workers.push_back({chief, s.o.files, brief, task});
  for (auto& w : workers)
    w.begin(0);
  run_to_end(chief);
  chief.crank_until([&] { return std::all_of(workers.begin(), workers.end(), [](const auto& w) { return w.left; }); });
  for (const auto& w : workers) {
    CAPTURE(w.task);
    REQUIRE(w.left);
    CHECK_FALSE(w.left->chief_is_lost);
    CHECK(w.begun.front().first == 0);
    for (size_t i = 1; i < w.begun.size(); ++i)
      CHECK(w.begun[i].first > w.begun[i - 1].first);
  }
}

TEST_CASE("a worker that is slower than the chief goes on with the iteration that it finds, without a wait") {
  auto s = three_rounds();
  s.o.max_steps = 25;  // The third iteration stays open.
  simulated_job chief{prepare_search(s), 1, takes_time()};
  auto rules = brief;
  rules.max_steps = 30;
  timed_worker slow{chief, s.o.files, rules, 0, 60s};
  slow.begin(0);
  run_to_end(chief);
  chief.crank_until([&] { return slow.begun.size() == 2; });
  REQUIRE(slow.begun.size() == 2);
  CHECK(slow.begun[1].first == 2);
  CHECK(slow.begun[1].second - slow.begun[0].second == 60200ms);
}

TEST_CASE("[ADA-22.10 chief killed] workers whose chief was killed after an iteration leave when their patience ends") {
  for (const bool grown : {false, true}) {
    CAPTURE(grown);
    auto s = three_rounds();
    simulated_job chief{prepare_search(s), 1, takes_time()};
    std::vector<timed_worker> workers;
    for (int64_t task = 0; task < 2; ++task)
      workers.push_back({chief, s.o.files, brief, task});
    const auto there = grown ? job_event::kind::grown : job_event::kind::saved;
    REQUIRE(chief.crank_until([&] { return !steps_of(chief.events(), there).empty(); }));
    // The chief's process ends here, and what it has committed stays.
    const auto files = s.o.files;
    const auto found = news_on(files);
    REQUIRE(found);
    chief.kill_place("");
    for (auto& w : workers)
      w.begin(found->iteration);
    const auto killed_at = workers[0].now();
    chief.crank_until([&] { return workers[0].left && workers[1].left; });
    for (const auto& w : workers) {
      REQUIRE(w.left);
      CHECK(w.left->chief_is_lost);
      CHECK(has(w.left->why, "within 180 s"));
      CHECK(w.left_at - killed_at == 180s);
      CHECK(iterations_of(w) == std::vector<int64_t>{found->iteration});
    }
  }
}

TEST_CASE("a worker that returns after the end of the search leaves at once, as after any other iteration") {
  auto s = three_rounds();
  simulated_job chief{prepare_search(s), 1, takes_time()};
  run_to_end(chief);
  timed_worker late{chief, s.o.files, brief, 5};
  late.wait(round_wait{brief, 5, 0, late.now()});
  REQUIRE(late.left);
  CHECK_FALSE(late.left->chief_is_lost);
  CHECK(late.begun.empty());
}

}  // namespace troupe::test
