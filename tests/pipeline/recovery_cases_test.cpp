// Numbered cases of errors from which jobs recover, and of errors from which they do not, in simulation.
#include "support/ended_jobs.hpp"
#include "support/mortal_engine.hpp"
#include "support/simulated_job.hpp"
#include "support/troubled_dataset.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace troupe::test {

namespace {

using kind = job_event::kind;

/// A dataset in which reading batch `batch` fails with `category`, the first `times` times.
dataset failing_at(int64_t batch, errc category, int times = 1'000) {
  const auto well = small_dataset().shuffle().batch(4).repeat();
  auto node = std::make_shared<troubled_stage>(well.last_stage(), batch,
                                               [category, left = std::make_shared<int>(times)]() -> expected<void> {
                                                 if (*left == 0)
                                                   return {};
                                                 --*left;
                                                 return fail(category, "the data broke off");
                                               });
  return dataset{std::move(node)};
}

std::vector<job_event> events_of(const simulated_job& job, kind what) {
  std::vector<job_event> all;
  for (const auto& e : job.events())
    if (e.what == what)
      all.push_back(e);
  return all;
}

/// How many steps were begun, and how many were completed.
struct run_counts {
  int64_t begun = 0, made = 0;
};

class counting_engine final : public wrapped_engine {
 public:
  counting_engine(std::shared_ptr<step_engine> inner, std::shared_ptr<run_counts> counts)
    : wrapped_engine(std::move(inner)), counts_(std::move(counts)) {}
  step_status gradients(int64_t step, const batch_feeds& in, int arena) override {
    ++counts_->begun;
    return wrapped_engine::gradients(step, in, arena);
  }
  void apply(int64_t step, const tensor& sum, int from, int to) override {
    wrapped_engine::apply(step, sum, from, to);
    ++counts_->made;
  }

 private:
  std::shared_ptr<run_counts> counts_;
};

/// Its step 7 is cancelled.
class cancelling_engine final : public wrapped_engine {
 public:
  using wrapped_engine::wrapped_engine;
  step_status gradients(int64_t step, const batch_feeds& in, int arena) override {
    return step == 7 ? step_status::cancelled : wrapped_engine::gradients(step, in, arena);
  }
};

/// Counts the steps of all replicas of the job, also of those that are started again.
std::shared_ptr<run_counts> count_runs(prepared_job& job) {
  auto counts = std::make_shared<run_counts>();
  auto& program = job.in(mode::train);
  for (auto& engine : program.engines)
    engine = std::make_shared<counting_engine>(engine, counts);
  program.make_engine = [make = program.make_engine, counts](const plan_node& replica) {
    return make(replica).map([&](std::unique_ptr<step_engine> made) -> std::unique_ptr<step_engine> {
      return std::make_unique<counting_engine>(std::move(made), counts);
    });
  };
  return counts;
}

/// Holds every save, so that a state is committed before the next step begins.
struct holding_hook final : hook {
  int64_t begins = 0, sessions = 0, gate = -1;
  needs begin(int64_t) override {
    ++begins;
    needs wanted{.holds = {.saved = true}};
    if (gate >= 0)
      wanted.steps.push_back({.first = gate, .gate = true});
    return wanted;
  }
  void on_event(const job_event& e, job_control&) override {
    sessions += e.what == kind::started || e.what == kind::recovered ? 1 : 0;
  }
};

}  // namespace

TEST_CASE(
    "[SUP-18] a replica that dies in run 3 has that run alone made again: one run more is begun than made, in two "
    "sessions of one begin") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const auto seen = std::make_shared<holding_hook>();
    const auto prepared = prepare_small({.max_steps = 10, .save_steps = 1, .hooks = {seen}, .recovers = 10});
    const auto fate = std::make_shared<doom>();
    fate->steps = {2};
    make_mortal(*prepared, fate);
    const auto counts = count_runs(*prepared);
    simulated_job job{prepared, seed};
    CHECK(run_to_end(job).steps_run == 10);
    CHECK(counts->made == 10);
    CHECK(counts->begun == 10 + 1);
    CHECK(seen->begins == 1);
    CHECK(seen->sessions == 2);
  }
}

TEST_CASE(
    "[SUP-22] of 10 steps with a recovery at 6 to the checkpoint of 5 six and five runs are made, and the last state "
    "is that of 10") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const auto seen = std::make_shared<holding_hook>();
    seen->gate = 6;
    small_job_options o{.save_steps = 5, .hooks = {seen}, .recovers = 10};
    auto description = describe_small(o);
    description.max_steps.reset();
    description.steps = 10;
    const auto prepared = *prepare(std::move(description));
    const auto counts = count_runs(*prepared);
    simulated_job job{prepared, seed};
    REQUIRE(job.crank_until([&] { return job.progress().step >= 5 && job.progress().committed_step == 5; }));
    while (job.progress().step < 6)
      REQUIRE(job.crank());
    REQUIRE(counts->made == 6);
    REQUIRE(job.kill("replica/0"));
    const auto result = run_to_end(job);
    CHECK(result.global_step == 10);
    CHECK(result.steps_run == 10);
    CHECK(counts->made == 6 + 5);
    REQUIRE(events_of(job, kind::recovered).size() == 1);
    CHECK(events_of(job, kind::recovered).front().step == 5);
  }
}

TEST_CASE(
    "[SUP-7] recovering says whether there was a checkpoint: before the first commit there is none, and afterwards "
    "there is") {
  small_job_options o{.max_steps = 20, .recovers = 10};
  simulated_job job{prepare_small(o), 3};
  SUBCASE("without") {
    REQUIRE(job.crank_until([&] { return job.node("replica/0") != nullptr; }));
    REQUIRE(job.kill("replica/0"));
    REQUIRE(result_of(job));
    const auto recovered = events_of(job, kind::recovered);
    REQUIRE(recovered.size() == 1);
    CHECK_FALSE(recovered.front().checkpoint);
    CHECK(recovered.front().text.empty());
  }
  SUBCASE("with") {
    REQUIRE(job.crank_until([&] { return job.progress().step >= 7; }));
    REQUIRE(job.kill("replica/0"));
    REQUIRE(result_of(job));
    const auto recovered = events_of(job, kind::recovered);
    REQUIRE(recovered.size() == 1);
    REQUIRE(recovered.front().checkpoint);
    CHECK(recovered.front().checkpoint->step == recovered.front().step);
    CHECK(recovered.front().text == "/run/model.ckpt-" + std::to_string(recovered.front().step));
  }
}

TEST_CASE(
    "[SUP-19] data that are unavailable three times while the job begins are read by the fourth attempt, after 1, 2 "
    "and 4 s; the eleventh time is the job's error") {
  const auto tried = [](int times, auto&& ends) {
    const int64_t first = 0;
    simulated_job job{
        prepare_small({.max_steps = 20, .input = failing_at(first, errc::unavailable, times), .recovers = 10}), 3};
    ends(job);
    std::vector<double> delays;
    const auto given_up = events_of(job, kind::recovering), begun = events_of(job, kind::recovered);
    REQUIRE(given_up.size() == begun.size());
    for (size_t i = 0; i < begun.size(); ++i) {
      CHECK(begun[i].step == first);
      delays.push_back(std::round(begun[i].seconds - given_up[i].seconds));
    }
    return delays;
  };
  using secs = std::vector<double>;
  CHECK(tried(3, [](simulated_job& job) { CHECK(run_to_end(job).steps_run == 20); }) == secs{1, 2, 4});
  CHECK(tried(10, [](simulated_job& job) { CHECK(run_to_end(job).steps_run == 20); }).size() == 10);
  CHECK(tried(11,
              [](simulated_job& job) {
                const auto e = failure_of(job);
                CHECK(e.category == errc::unavailable);
                CHECK(e.message == "the data broke off");
              })
        == secs{1, 2, 4, 8, 16, 32, 60, 60, 60, 60});
}

TEST_CASE("a save that is requested while the job recovers is made once it trains again") {
  small_job_options o{.max_steps = 4'000, .save_steps = 2'000, .recovers = 10};
  simulated_job job{prepare_small(o), 3};
  REQUIRE(job.crank_until([&] { return job.progress().step >= 7; }));
  REQUIRE(job.kill("replica/0"));
  REQUIRE(job.crank_until([&] { return job.progress().now == job_progress::phase::recovering; }));
  job.ask(request::save);
  REQUIRE(job.crank_until([&] { return job.progress().committed_step > 0 || job.ended(); }));
  CHECK(job.progress().committed_step < 2'000);
}

TEST_CASE(
    "[SUP-21, DF-48] an input's error is the cause, and what was cancelled for it a note at most; beside a death, "
    "cancelled work is made again") {
  SUBCASE("not_found from the input") {
    small_job_options o{.max_steps = 40, .replicas = 2, .input = failing_at(11, errc::not_found), .recovers = 10};
    simulated_job job{prepare_small(o), 3};
    const auto result = result_of(job);
    REQUIRE_FALSE(result);
    CHECK(result.error().category == errc::not_found);
    CHECK(result.error().source == "infeed/0");
    CHECK(result.error().step == 11);
    CHECK(events_of(job, kind::recovering).empty());
    CHECK_MESSAGE(job.now() < std::chrono::seconds{5}, "everyone is halted at once");
  }
  SUBCASE("a death, with reads and steps cancelled for it") {
    small_job_options o{.max_steps = 40, .replicas = 2, .recovers = 10};
    simulated_job job{prepare_small(o), 3};
    REQUIRE(job.crank_until([&] { return job.progress().step >= 7; }));
    REQUIRE(job.kill("replica/1"));
    REQUIRE(result_of(job));
    CHECK(events_of(job, kind::recovering).size() == 1);
  }
}

TEST_CASE(
    "[DF-49] a step or a source that is cancelled by itself ends the job so; a source that is aborted is read again "
    "from the last commit, by readers that begin again there") {
  SUBCASE("cancelled") {
    small_job_options o{.max_steps = 20, .input = failing_at(7, errc::cancelled), .recovers = 10};
    simulated_job job{prepare_small(o), 3};
    const auto result = result_of(job);
    REQUIRE_FALSE(result);
    CHECK(result.error().category == errc::cancelled);
    CHECK(events_of(job, kind::recovering).empty());
  }
  SUBCASE("a step") {
    const auto prepared = prepare_small({.max_steps = 20, .recovers = 10});
    for (auto& engine : prepared->in(mode::train).engines)
      engine = std::make_shared<cancelling_engine>(engine);
    simulated_job job{prepared, 3};
    const auto result = result_of(job);
    REQUIRE_FALSE(result);
    CHECK(result.error().category == errc::cancelled);
    CHECK(result.error().step == 7);
    CHECK(events_of(job, kind::recovering).empty());
  }
  SUBCASE("aborted") {
    small_job_options o{.max_steps = 20, .input = failing_at(7, errc::aborted, 1), .recovers = 10};
    simulated_job job{prepare_small(o), 3};
    std::vector<std::pair<int32_t, int64_t>> begun;
    job.watch([&](const std::string&, const std::string& to, const caf::type_erased_tuple& content) {
      if (to == "infeed/0" && content.match_elements<begin>())
        begun.emplace_back(content.get_as<begin>(0).attempt, content.get_as<begin>(0).step);
    });
    REQUIRE(result_of(job));
    CHECK(begun == std::vector<std::pair<int32_t, int64_t>>{{1, 0}, {2, 5}});
    REQUIRE(events_of(job, kind::recovered).size() == 1);
    CHECK(events_of(job, kind::recovered).front().step == 5);
    small_job_options whole{.max_steps = 20};
    simulated_job reference{prepare_small(whole), 1};
    REQUIRE(result_of(reference));
    CHECK(same_state(newest_checkpoint(o.files).content, newest_checkpoint(whole.files).content));
  }
}

TEST_CASE(
    "[DF-53] data that end before the last step finish the job there; an infeed that falls silent fails it in its "
    "deadline, with the counts of everyone who answers") {
  small_job_options o{.max_steps = 40, .recovers = 10};
  SUBCASE("the end of the data") {
    o.input = small_dataset(28).batch(4);
    CHECK(run_to_end(o).global_step == 7);
    return;
  }
  simulated_job job{prepare_small(o), 3};
  REQUIRE(job.crank_until([&] { return job.progress().step >= 7; }));
  job.hang("infeed/0");
  const auto result = result_of(job);
  REQUIRE_FALSE(result);
  const auto& message = result.error().message;
  CHECK(result.error().category == errc::deadline_exceeded);
  CHECK(has(message, "infeed/0 does not answer"));
  const auto n = std::to_string(job.progress().step);
  CHECK_MESSAGE(has(message, "replica/0: received " + n + ", granted 40, computed " + n), message);
  CHECK_MESSAGE(has(message, "outfeed: reported " + n), message);
}

}  // namespace troupe::test
