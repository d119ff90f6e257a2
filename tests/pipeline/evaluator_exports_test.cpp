// What an evaluator in another process exports, and what becomes of exporters that fail.
#include "support/followed_job.hpp"
#include "support/has.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace troupe::test {

namespace {

using texts = std::vector<std::string>;
using exports = expected<texts>;

/// Writes down of which checkpoint each evaluation is that begins.
struct begun_evaluations final : hook {
  std::vector<int64_t> steps;
  void on_event(const job_event& e, job_control&) override {
    if (e.what == job_event::kind::started)
      steps.push_back(e.step);
  }
};

}  // namespace

TEST_CASE("[EST-81] a checkpoint whose exporters failed, or threw, is evaluated again, and has one record") {
  for (const bool throws : {false, true}) {
    const small_job_options o{.max_steps = 5};
    two_processes both{1};
    auto follower = describe_follower_small(o);
    const auto begun = std::make_shared<begun_evaluations>();
    follower.evaluations.front().data.hooks = {begun};
    int calls = 0;
    follower.evaluations.front().exports = [&](const export_surroundings&, const export_occasion& now) -> exports {
      const bool first = now.checkpoint == "/run/model.ckpt-5" && ++calls == 1;
      if (first && throws)
        throw std::runtime_error{"the export server is away"};
      if (first)
        return fail(errc::unavailable, "the export server is away");
      return texts{now.checkpoint + "/exported"};
    };
    both.start_evaluator(std::move(follower));
    both.start_chief(describe_judged_elsewhere(o));
    both.success_of(*both.chief);
    const auto result = both.success_of(*both.evaluator);
    CHECK(calls == 2);
    CHECK(std::count(begun->steps.begin(), begun->steps.end(), 5) == 2);
    CHECK(result.exports.at("") == texts{"/run/model.ckpt-5/exported"});
    CHECK(records_in(*o.files).at(5) == 1);
    const auto warned = warnings_in(both.evaluators.process().events());
    CHECK(std::any_of(warned.begin(), warned.end(), [](const auto& w) { return has(w, "the export server is away"); }));
  }
}

TEST_CASE("exporters that always fail end an evaluator, or are passed over, as on_evaluator_failure says") {
  for (const bool goes_on : {false, true}) {
    const small_job_options o{.max_steps = 5};
    two_processes both{1};
    auto follower = describe_follower_small(o);
    follower.evaluations.front().on_evaluator_failure = goes_on ? failure_policy::go_on : failure_policy::fail;
    follower.evaluations.front().exports = [](const export_surroundings&, const export_occasion&) -> exports {
      return fail(errc::unavailable, "the export server is away");
    };
    both.start_evaluator(std::move(follower));
    both.start_chief(describe_judged_elsewhere(o));
    both.success_of(*both.chief);
    const auto result = both.result_of(*both.evaluator);
    CHECK(result.has_value() == goes_on);
    if (!goes_on)
      CHECK(has(result.error().message, "the export server is away"));
  }
}

TEST_CASE(
    "[EST-85] an evaluator exports the last state as the final one where max_steps is reached or a rule has ended the "
    "job, and not where the data have ended before") {
  for (const std::string end : {"max_steps", "rule", "data"}) {
    CAPTURE(end);
    small_job_options o{.max_steps = end == "max_steps" ? 20 : 400};
    if (end == "data")
      o.input = small_dataset(48).batch(4);
    auto training = describe_judged_elsewhere(o);
    auto follower = describe_follower_small(o);
    if (end == "rule")
      training.stop_early = follower.stop_early = {stop_if_higher("loss", -1, {.min_steps = 10})};
    std::vector<std::string> each, last;
    follower.evaluations.front().exports_at_end = true;
    follower.evaluations.front().exports = [&](const export_surroundings&, const export_occasion& now) -> exports {
      CHECK("/run/model.ckpt-" + std::to_string(static_cast<int64_t>(now.metrics.at("global_step"))) == now.checkpoint);
      (now.is_final ? last : each).push_back(now.checkpoint);
      return texts{""};
    };
    two_processes both{1, slow_training(std::chrono::seconds{1})};
    both.start_evaluator(std::move(follower));
    both.start_chief(std::move(training));
    const auto chief = both.success_of(*both.chief);
    CHECK(chief.global_step < 400);
    CHECK(both.success_of(*both.evaluator).global_step == chief.global_step);
    REQUIRE_FALSE(each.empty());
    CHECK(each.back() == chief.checkpoint);
    CHECK(last == (end == "data" ? texts{} : texts{chief.checkpoint}));
  }
}

}  // namespace troupe::test
