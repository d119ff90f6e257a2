// One small job under every launcher: training, evaluation and predictions have the same results.
#include "pipeline/launch/launcher.hpp"

#include "pipeline/launch/local_system.hpp"
#include "support/event_files.hpp"
#include "support/small_job.hpp"
#include "tests/support/has.hpp"

#include <caf/actor_registry.hpp>
#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

/// The actor system of a host program that uses CAF itself.
struct program {
  struct settings final : caf::actor_system_config {
    settings() { add_types(*this); }
  };
  settings config;
  caf::actor_system system{config};
};

prediction_job predict_small(const small_job_options& o) {
  return {.basis = small_basis(o), .input = small_dataset(20).batch(8), .batches_ahead = 1};
}
evaluation_job evaluate_small(const small_job_options& o) {
  return {.basis = small_basis(o), .data = small_evaluation()};
}
std::shared_ptr<prepared_job> must_prepare(any_job job) {
  auto prepared = prepare(std::move(job));
  REQUIRE_MESSAGE(prepared, (prepared ? "" : to_text(prepared.error())));
  return *prepared;
}

/// The results of training, evaluating and predicting.
struct outcome {
  checkpoint_content state;
  evaluation_result found;
  size_t event_files = 0;
  std::vector<step_values> predictions;
  loaded_state from;
};

outcome outcome_of(launcher& by) {
  outcome all;
  const small_job_options o{.max_steps = 12, .replicas = 2, .evaluates = true};
  {
    const auto job = by.train(prepare_small(o));
    const auto result = job->wait(60s);
    REQUIRE(result);
    REQUIRE_MESSAGE(*result, (*result ? "" : to_text(result->error())));
    CHECK((*result)->global_step == 12);
    CHECK(job->ended());
  }
  all.state = newest_checkpoint(o.files).content;
  const auto files_before = list_event_logs(*o.files, "/run/eval")->size();
  const auto found = by.evaluate(must_prepare(evaluate_small(o)))->wait();
  REQUIRE_MESSAGE(found, (found ? "" : to_text(found.error())));
  all.found = *found;
  all.event_files = list_event_logs(*o.files, "/run/eval")->size() - files_before;
  const auto predictions = by.predict(must_prepare(predict_small(o)));
  for (;;) {
    auto next = predictions->next();
    REQUIRE_MESSAGE(next, (next ? "" : to_text(next.error())));
    if (!*next)
      break;
    all.predictions.push_back(std::move(**next));
  }
  all.from = predictions->from();
  return all;
}

void check_same(const outcome& a, const outcome& b) {
  CHECK(same_state(a.state, b.state));
  CHECK(a.found.global_step == b.found.global_step);
  CHECK(a.found.metrics == b.found.metrics);
  CHECK(a.found.batches == b.found.batches);
  CHECK(a.found.checkpoint == b.found.checkpoint);
  CHECK(a.event_files == b.event_files);
  CHECK(a.from.prefix == b.from.prefix);
  REQUIRE(a.predictions.size() == b.predictions.size());
  for (size_t i = 0; i < a.predictions.size(); ++i) {
    CHECK(a.predictions[i].step == b.predictions[i].step);
    CHECK(a.predictions[i].values == b.predictions[i].values);
  }
}

/// The options of a job that has trained and saved step 10.
small_job_options trained() {
  const small_job_options o{.max_steps = 10};
  simulated_job job{prepare_small(o), 1};
  REQUIRE(job.wait(1h)->has_value());
  return o;
}

}  // namespace

TEST_CASE(
    "a job trains, evaluates and predicts the same to the bit in a system of its own, in the program's and in "
    "simulation") {
  local_launcher local;
  const auto expected_outcome = outcome_of(local);
  CHECK(expected_outcome.found.global_step == 12);
  CHECK(expected_outcome.found.batches == 3);
  CHECK(expected_outcome.found.warnings.empty());
  CHECK(expected_outcome.event_files == 1);
  CHECK(expected_outcome.predictions.size() == 3);
  CHECK(expected_outcome.from.id.step == 12);
  SUBCASE("the program's") {
    program p;
    {
      hosted_launcher hosted{p.system};
      check_same(outcome_of(hosted), expected_outcome);
    }
    CHECK_MESSAGE(p.system.registry().running() == 0, "nothing is left there");
  }
  SUBCASE("simulation") {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(seed);
      simulated_launcher simulated{seed};
      check_same(outcome_of(simulated), expected_outcome);
      CHECK(simulated.world().left().empty());
    }
  }
}

TEST_CASE("a simulated evaluation takes the same turns for the same seed, others for another, and finds the same") {
  const auto o = trained();
  const auto run = [&](uint64_t seed) {
    simulated_launcher by{seed};
    const auto found = by.evaluate(must_prepare(evaluate_small(o)))->wait();
    REQUIRE(found);
    CHECK(found->metrics.at("global_step") == 10);
    return std::pair{by.world().trace_hash(), found->metrics};
  };
  const auto first = run(1), again = run(1), other = run(2);
  CHECK(first == again);
  CHECK(first.first != other.first);
  CHECK(first.second == other.second);
}

TEST_CASE("an evaluation alone names the actor whose death ended it, and leaves none behind") {
  const auto o = trained();
  std::string node, message;
  SUBCASE("the evaluator") { node = "evaluator", message = "the evaluator ended: "; }
  SUBCASE("the summary writer") { node = "summary_writer/eval", message = "the summary writer ended: "; }
  SUBCASE("a node of the evaluator") { node = "evaluator/outfeed", message = "a node of the evaluation ended: "; }
  SUBCASE("the driver of both") { node = "evaluation", message = "the evaluation ended: "; }
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    simulated_launcher by{seed};
    auto running = by.evaluate(must_prepare(evaluate_small(o)));
    REQUIRE(by.world().crank_until([&] { return by.world().kill(node); }));
    const auto found = running->wait();
    REQUIRE_FALSE(found);
    CHECK(found.error().category == errc::aborted);
    CHECK_MESSAGE(found.error().message.starts_with(message), found.error().message);
    CHECK(running->wait().error() == found.error());
    running.reset();
    CHECK(by.world().left().empty());
    CHECK(by.world().now() < 1min);
  }
}

TEST_CASE("a wait for an evaluation passes its deadline on the world's clock, not on the thread's") {
  const auto o = trained();
  simulated_launcher by{3};
  const auto description = evaluate_small(o);
  auto running = by.evaluate(must_prepare(description));
  by.world().hang("evaluator");
  const auto found = running->wait();
  REQUIRE_FALSE(found);
  CHECK(found.error().category == errc::deadline_exceeded);
  CHECK(has(found.error().message, "waiting for the evaluator"));
  CHECK(by.world().now() >= description.basis.deadlines.evaluation);
  running.reset();
  CHECK(by.world().left().empty());
}

TEST_CASE("the handle of a simulated job that is destroyed aborts the job as on threads, and no actor is left") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    small_job_options o{.max_steps = 1'000'000};
    simulated_launcher by{seed};
    auto running = by.train(prepare_small(o));
    REQUIRE(by.world().crank_until([&] { return running->progress().step >= 7; }));
    running.reset();
    CHECK(by.world().events().back().what == job_event::kind::failed);
    CHECK(by.world().left().empty());
    CHECK(newest_checkpoint(o.files).content.id.step < 1'000'000);
  }
}

}  // namespace troupe::test
