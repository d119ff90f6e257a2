// An evaluator in another process beside a chief that is faster than it, and user code of an evaluator that hangs.
#include "messages/evaluation.hpp"
#include "storage/checkpoints/judged.hpp"
#include "support/followed_job.hpp"
#include "support/has.hpp"
#include "words/text.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

/// Messages of the evaluator's process take a while: the chief commits and deletes several checkpoints meanwhile.
world_conditions slow_evaluations() {
  world_conditions conditions;
  for (const auto& node : {"evaluator/evaluator", "evaluator/follower", "evaluator/checkpoint_watcher"})
    conditions.cost[node] = {0ms, 20ms};
  for (const auto& node : {"chief/replica", "chief/checkpoint_writer"})
    conditions.cost[node] = {0ms, 5ms};
  return conditions;
}

bool any_has(const std::vector<std::string>& all, const std::string& part) {
  return std::any_of(all.begin(), all.end(), [&](const std::string& x) { return has(x, part); });
}

follower_job described_follower(const small_job_options& o, const std::optional<keep_best>& best = {}) {
  auto job = describe_follower_small(o);
  job.keep_best = best;
  return job;
}

/// A rule that calls `predicate` once there are evaluations.
stop_rule asks(std::function<bool(const evaluation_history&)> predicate) {
  return stop_if("mine", std::move(predicate), {.min_steps = 1});
}

}  // namespace

TEST_CASE("an evaluator whose checkpoints are deleted before it holds them goes on with newer ones, to the last") {
  int64_t gone = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const small_job_options o{.max_steps = 100, .save_steps = 1};
    two_processes both{seed, slow_evaluations()};
    auto training = describe_judged_elsewhere(o);
    training.basis.config.keep_checkpoint_max = 1;
    both.start_evaluator(described_follower(o));
    both.start_chief(std::move(training));
    CHECK(both.success_of(*both.chief).global_step == 100);
    CHECK(both.success_of(*both.evaluator).global_step == 100);
    CHECK(records_in(*o.files).at(100) == 1);
    const auto warned = warnings_in(both.evaluators.process().events());
    gone += std::count_if(warned.begin(), warned.end(),
                          [](const auto& w) { return has(w, "has gone before its evaluation began"); });
  }
  CHECK(gone > 0);
}

TEST_CASE("the best checkpoint is there at the end, however fast the chief deletes old ones") {
  for (const bool smaller : {true, false})
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(smaller);
      CAPTURE(seed);
      const small_job_options o{.max_steps = 60, .save_steps = 1};
      const keep_best best{.goal = {.metric = "loss", .smaller_is_better = smaller}};
      two_processes both{seed, slow_evaluations()};
      auto training = describe_judged_elsewhere(o);
      training.basis.config.keep_checkpoint_max = 1;
      training.keep_best = best;
      both.start_evaluator(described_follower(o, best));
      both.start_chief(std::move(training));
      both.success_of(*both.chief);
      const auto result = both.success_of(*both.evaluator);
      CHECK_FALSE(any_has(warnings_in(both.evaluators.process().events()), "before its verdict"));
      const auto losses = losses_in(*o.files);
      const auto found = std::min_element(losses.begin(), losses.end(), [&](const auto& a, const auto& b) {
        return smaller ? a.second < b.second : a.second > b.second;
      });
      CHECK(result.best_checkpoint == "/run/model.ckpt-" + std::to_string(found->first));
      REQUIRE(newest_books(o).best);
      CHECK(newest_books(o).best->id.step == found->first);
      auto store = checkpoint_store::open(o.files, "/run", {.read_only = true});
      CHECK((*store)->restore_step(found->first));
    }
}

TEST_CASE("a predicate in an evaluator's process ends the chief's job, and one that throws fails the evaluator") {
  for (const bool throws : {false, true}) {
    const small_job_options o{.max_steps = 400};
    two_processes both{1, slow_training(1s)};
    auto follower = describe_follower_small(o);
    int64_t seen = 0;
    follower.stop_early = {asks([&](const evaluation_history& h) -> bool {
      if (throws)
        throw std::runtime_error{"no such metric"};
      seen = h.back().step;
      return h.back().step >= 10;
    })};
    auto training = describe_judged_elsewhere(o);
    training.stop_early = {asks([](const evaluation_history&) { return false; })};
    both.start_evaluator(std::move(follower));
    both.start_chief(std::move(training));
    if (throws) {
      const auto failed = both.result_of(*both.evaluator);
      REQUIRE_FALSE(failed);
      CHECK(has(to_text(failed.error()), "no such metric"));
      CHECK(both.success_of(*both.chief).global_step == 400);
      continue;
    }
    const auto chief = both.success_of(*both.chief);
    CHECK(chief.global_step < 400);
    CHECK(has(chief.remark, "ended early: "));
    CHECK(both.success_of(*both.evaluator).global_step == chief.global_step);
    CHECK(seen >= 10);
  }
}

TEST_CASE("an evaluator that hangs in a predicate or in an evaluation is named in time, or only its evaluations end") {
  for (const bool in_predicate : {true, false})
    for (const bool goes_on : {false, true}) {
      CAPTURE(in_predicate);
      CAPTURE(goes_on);
      const small_job_options o{.max_steps = 40};
      two_processes both{1};
      auto follower = describe_follower_small(o);
      auto second = follower.evaluations.front();
      second.data.name = "other";
      follower.evaluations.push_back(second);
      follower.listeners.push_back(nullptr);
      follower.evaluations.front().on_evaluator_failure = goes_on ? failure_policy::go_on : failure_policy::fail;
      if (in_predicate)
        follower.stop_early = {asks([](const evaluation_history&) { return false; })};
      both.world->watch([&](const std::string& from, const std::string& to, const caf::type_erased_tuple& x) {
        const bool begins = in_predicate ? x.match_elements<apply_rule>() : x.match_elements<evaluate_at>();
        if (begins && to == "evaluator/evaluator" && from == "evaluator/follower")
          both.world->hang("evaluator/evaluator");
      });
      both.start_evaluator(std::move(follower));
      both.start_chief(describe_judged_elsewhere(o));
      CHECK(both.success_of(*both.chief).global_step == 40);
      const auto result = both.result_of(*both.evaluator, 240h);
      const std::string said = goes_on ? joined(warnings_in(both.evaluators.process().events()), "; ")
                                       : to_text(result.error());
      CHECK_MESSAGE(has(said, "for the evaluator"), said);
      CHECK(has(said, "which asks the predicate") == in_predicate);
      CHECK(result.has_value() == goes_on);
      if (goes_on)
        CHECK(result->evaluations.at("other").at("global_step") == 40);
      both.world->watch({});
      both.world->unhang("evaluator/evaluator");
    }
}

TEST_CASE("a process that keeps no best checkpoint leaves what an earlier evaluator has judged alone") {
  const small_job_options o;
  two_processes both{1};
  both.start_chief(describe_judged_elsewhere(o));
  both.success_of(*both.chief);
  const auto at = judged_checkpoint_of(*o.files, "/run", {10});
  REQUIRE(at);
  REQUIRE(write_judged(*o.files, "/run", {.best = judged::best_so_far{*at, 0.5}}));
  const auto owner = o.files->lock("/run");
  REQUIRE(owner);
  both.start_evaluator(describe_follower_small(o));
  CHECK(both.success_of(*both.evaluator).global_step == 20);
  CHECK(warnings_in(both.evaluators.process().events()).empty());
  CHECK_FALSE(newest_books(o).best);
}

}  // namespace troupe::test
