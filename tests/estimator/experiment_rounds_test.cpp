// The schedules of an experiment that wait or go round, in time that is moved by hand.
#include "estimator/experiment_run.hpp"
#include "tests/estimator/scripted_time.hpp"
#include "tests/estimator/small_experiment.hpp"
#include "tests/support/refused.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

struct timed_experiment {
  temporary_directory directory;
  experiment e = small_experiment(directory / "run");
  std::shared_ptr<scripted_time> time = std::make_shared<scripted_time>();
  std::vector<std::string> warnings;
  std::vector<std::chrono::seconds> warned;  ///< When they came.
  /// What a predicate was told: "none", "nothing", or the step of the checkpoint.
  std::vector<std::string> told;
  std::vector<std::chrono::seconds> starts;  ///< Of evaluations.

  timed_experiment() {
    e.on_warning = [this](const std::string& text) {
      warnings.push_back(text);
      warned.push_back(std::chrono::duration_cast<std::chrono::seconds>(time->at));
    };
  }
  std::string run() const { return directory / "run"; }
  void train_to(int64_t step) const {
    auto more = e;
    more.train_steps = step;
    const auto trained = more.train();
    REQUIRE_MESSAGE(trained, why(trained));
    REQUIRE(trained->global_step == step);
  }
  void train_at(std::chrono::nanoseconds when, int64_t step) {
    time->events.emplace(when, [this, step] { train_to(step); });
  }
  /// Each evaluation takes so long.
  void evaluations_take(std::chrono::seconds duration) {
    e.eval_hooks = {std::make_shared<counting_hook>([this, duration] {
      starts.push_back(std::chrono::duration_cast<std::chrono::seconds>(time->at));
      time->at += duration;
    })};
  }
  round_predicate until(std::function<bool()> goes_on = [] { return true; }) {
    return [this, goes_on](const std::map<std::string, double>* results, const std::string& checkpoint) {
      told.push_back(!results           ? "none"
                     : results->empty() ? "nothing"
                                        : std::to_string(static_cast<int64_t>(results->at("global_step"))));
      CHECK(checkpoint == (results && !results->empty() ? run() + "/model.ckpt-" + told.back() : ""));
      return goes_on();
    };
  }
  expected<experiment_result> continuous_eval(continuous_eval_options options,
                                              schedule which = schedule::continuous_eval) {
    options.delay_secs = options.delay_secs.value_or(0);
    return experiment_run{e, time}.continuous_eval(which, options);
  }
};

using told_list = std::vector<std::string>;

}  // namespace

TEST_CASE_FIXTURE(timed_experiment, "[SUP-45] a lone evaluation waits 120 s, and its results are in eval_one_pass") {
  train_to(5);
  const auto result = experiment_run{e, time}.evaluate({}, "one_pass");
  REQUIRE_MESSAGE(result, why(result));
  CHECK(time->at == 120s);
  CHECK(result->global_step == 5);
  CHECK(evaluated_in(run(), "eval_one_pass") == steps_list{5});
  CHECK(experiment_run{e, time}.evaluate(7, "again"));
  CHECK(time->at == 127s);
  CHECK(evaluated_in(run(), "eval_again") == steps_list{5});
  train_to(10);
  REQUIRE(e.evaluate(0));
  CHECK(evaluated_in(run(), "eval_one_pass") == steps_list{5, 10});
}

TEST_CASE_FIXTURE(timed_experiment,
                  "[SUP-46] continuous evaluation asks before each round, evaluates each checkpoint once, and ends at "
                  "the last step") {
  train_at(90s, 5);
  train_at(1500s, 10);
  const auto result = continuous_eval({.predicate = until()});
  REQUIRE_MESSAGE(result, why(result));
  CHECK(result->global_step == 10);
  CHECK(result->evaluation->checkpoint == run() + "/model.ckpt-10");
  CHECK(evaluated_in(run(), "eval_continuous") == steps_list{5, 10});
  REQUIRE(told.size() > 4);
  CHECK(told_list(told.begin(), told.begin() + 4) == told_list{"none", "nothing", "nothing", "5"});
  CHECK(told.back() == "10");
  CHECK(std::count(told.begin(), told.end(), "5") == 1);
  CHECK(std::count(told.begin(), told.end(), "10") == 1);
  CHECK(told.size() <= 30);  // One for each 60 s.
  CHECK(time->at >= 1500s);
  CHECK(time->at < 1510s);
  REQUIRE(warnings.size() == 4);
  const std::vector<std::chrono::seconds> after_step_5{0s, 150s, 750s, 1350s};  // Which is evaluated at 90 s.
  CHECK(warned == after_step_5);
  CHECK(has(warnings[0], "there is no checkpoint yet in " + run()));
  for (size_t i = 1; i < 4; ++i)
    CHECK(has(warnings[i], "there is no new checkpoint in " + run()));
}

TEST_CASE_FIXTURE(timed_experiment, "[SUP-46] a predicate that says no ends a continuous evaluation, also before any") {
  e.train_steps = {};
  train_to(5);
  CHECK_FALSE(continuous_eval({.predicate = until([] { return false; })})->evaluation);
  CHECK(told == told_list{"none"});
  told.clear();
  const auto once = continuous_eval({.predicate = until([this] { return told.size() < 2; })});
  REQUIRE_MESSAGE(once, why(once));
  CHECK(once->global_step == 5);
  CHECK(told == told_list{"none", "5"});
  refused(continuous_eval({.predicate = [](const auto*, const auto&) -> bool { throw std::runtime_error{"no mood"}; }}),
          errc::state, "no mood");
}

TEST_CASE_FIXTURE(timed_experiment, "[SUP-46] checkpoints are evaluated again where each round is to evaluate") {
  train_to(5);
  evaluations_take(0s);
  const auto result = continuous_eval(
      {.evaluate_checkpoint_only_once = false, .predicate = until([this] { return told.size() < 4; })});
  REQUIRE_MESSAGE(result, why(result));
  CHECK(told == told_list{"none", "5", "5", "5"});
  CHECK(starts == std::vector<std::chrono::seconds>{0s, 60s, 120s});
}

TEST_CASE_FIXTURE(timed_experiment, "an error of an evaluation, or of the directory, ends a continuous evaluation") {
  train_to(5);
  e.eval_hooks = {std::make_shared<counting_hook>([] { throw std::runtime_error{"a bad day"}; })};
  refused(continuous_eval({}), errc::state, "a bad day");
  e.estimator.config.model_dir = "/dev/null";
  CHECK(continuous_eval({}).error().category == errc::failed_precondition);
}

TEST_CASE_FIXTURE(timed_experiment,
                  "[SUP-47] evaluations of 45 s begin 60 s apart, those of 70 s follow each other, and each is "
                  "exported") {
  train_to(5);
  e.exporters = {latest_exporter()};
  const continuous_eval_options three{.evaluate_checkpoint_only_once = false,
                                      .predicate = until([this] { return told.size() % 4 != 0; })};
  evaluations_take(45s);
  const auto result = continuous_eval(three);
  REQUIRE_MESSAGE(result, why(result));
  CHECK(starts == std::vector<std::chrono::seconds>{0s, 60s, 120s});
  CHECK(exports_of(run()) == 3);
  REQUIRE(result->exports.size() == 1);
  CHECK(result->exports[0].starts_with(run() + "/export/latest/"));
  starts.clear();
  time->at = 0s;
  evaluations_take(70s);
  REQUIRE(continuous_eval(three));
  CHECK(starts == std::vector<std::chrono::seconds>{0s, 70s, 140s});
}

TEST_CASE_FIXTURE(timed_experiment, "[SUP-47] an evaluation on training data exports nothing") {
  train_to(5);
  e.exporters = {latest_exporter()};
  e.eval_steps = 3;
  const auto result = continuous_eval({.predicate = until([this] { return told.size() < 2; })},
                                      schedule::continuous_eval_on_train_data);
  REQUIRE_MESSAGE(result, why(result));
  CHECK(evaluated_in(run(), "eval_continuous_on_train_data") == steps_list{5});
  CHECK(result->exports.empty());
  CHECK_FALSE(std::filesystem::exists(run() + "/export"));
}

TEST_CASE_FIXTURE(timed_experiment,
                  "a checkpoint is there until it is exported, however many are committed meanwhile") {
  train_to(5);
  e.estimator.config.keep_checkpoint_max = 1;
  e.exporters = {{.name = "late", .rule = export_rule::best, .better = [this](const auto&, const auto&) {
                    train_to(15);  // Retention drops what nobody holds.
                    return true;
                  }}};
  auto first = e;
  first.exporters = {best_exporter("late", {.metric = "loss"})};
  std::swap(first.exporters, e.exporters);
  REQUIRE(continuous_eval({.predicate = until([this] { return told.size() < 2; })}));
  std::swap(first.exporters, e.exporters);
  told.clear();
  const auto result = continuous_eval({.predicate = until([this] { return told.size() < 2; })});
  REQUIRE_MESSAGE(result, why(result));
  CHECK(exports_of(run(), "late") == 2);
  CHECK(result->global_step == 5);
  CHECK(newest_step(run()) == 15);
}

TEST_CASE_FIXTURE(timed_experiment, "[SUP-51] 100 steps are trained in rounds of 10, each evaluated and exported") {
  e.train_steps = 100;
  e.exporters = {{.name = "all", .exports_to_keep = {}}, final_exporter()};
  const auto result = experiment_run{e, time}.continuous_train_and_eval(until());
  REQUIRE_MESSAGE(result, why(result));
  CHECK(result->global_step == 100);
  CHECK(told == told_list{"none", "10", "20", "30", "40", "50", "60", "70", "80", "90", "100"});
  CHECK(evaluated_in(run(), "eval_one_pass") == steps_list{10, 20, 30, 40, 50, 60, 70, 80, 90, 100});
  CHECK(exports_of(run(), "all") == 10);
  CHECK(exports_of(run(), "final") == 1);
  REQUIRE(result->exports.size() == 2);
  CHECK_FALSE(result->exports[1].empty());
  CHECK(time->at == 0s);
}

TEST_CASE_FIXTURE(timed_experiment, "[SUP-51] the last round is cut at 25 steps, and a tenth of 5 steps is one step") {
  e.train_steps = 25;
  e.train_steps_per_iteration = 10;
  CHECK(experiment_run{e, time}.continuous_train_and_eval(until())->global_step == 25);
  CHECK(told == told_list{"none", "10", "20", "25"});
  told.clear();
  e.estimator.config.model_dir = directory / "other";
  e.train_steps = 5;
  e.train_steps_per_iteration = {};
  const auto five = experiment_run{e, time}.continuous_train_and_eval({});
  REQUIRE_MESSAGE(five, why(five));
  CHECK(five->global_step == 5);
  CHECK(evaluated_in(directory / "other", "eval_one_pass") == steps_list{1, 2, 3, 4, 5});
}

TEST_CASE_FIXTURE(timed_experiment,
                  "rounds of training go on with the data, and begin them anew when they have ended") {
  e.train_data = small_dataset(48).batch(4);  // 12 batches.
  e.train_steps = 30;
  e.train_steps_per_iteration = 8;
  const auto result = experiment_run{e, time}.continuous_train_and_eval(until());
  REQUIRE_MESSAGE(result, why(result));
  CHECK(told == told_list{"none", "8", "12", "20", "24", "30"});
  e.train_data = small_dataset(2).batch(4);
  e.train_steps = 40;
  const auto none = experiment_run{e, time}.continuous_train_and_eval({});
  REQUIRE_FALSE(none);
}

}  // namespace troupe::test
