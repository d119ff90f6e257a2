#include "estimator/describe.hpp"

#include "support/prediction_case.hpp"
#include "support/small_job.hpp"
#include "support/temporary_directory.hpp"
#include "tests/support/has.hpp"

#include <troupe/canned_models.hpp>
#include <troupe/checkpoints.hpp>
#include <troupe/hooks.hpp>
#include <troupe/job.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

estimator over(run_config config) { return {echo_model(), std::move(config)}; }

template <class T>
std::string refusal(const expected<T>& described) {
  if (!described)
    CHECK(described.error().category == errc::invalid_argument);
  return described ? "" : described.error().message;
}

train_spec training(std::optional<int64_t> max_steps = {}, std::optional<int64_t> steps = {}) {
  return {.input = dataset_over(fake_batches(3)), .max_steps = max_steps, .steps = steps};
}
eval_spec evaluation() { return {.input = dataset_over(fake_batches(3))}; }

template <class... Args>
concept can_be_called = requires(Args... args) {
  train_and_evaluate(args...);
};

}  // namespace

TEST_CASE("a training's wishes are settled: when it saves, its seed, its shards, and the folder of its evaluations") {
  auto beside = evaluation();
  beside.name = "test";
  beside.throttle_secs = 5;
  beside.when = evaluation_mode::beside;
  beside.steps = 2;
  const auto job = describe(over({.model_dir = "m", .replicas = 4}), training(9), beside);
  REQUIRE_MESSAGE(job, refusal(job));
  CHECK(job->max_steps == 9);
  CHECK_FALSE(job->steps);
  CHECK(job->basis.config.save_secs == 600);
  CHECK(job->basis.config.seed == 0);
  CHECK(job->basis.config.gradient_shards == 4);
  CHECK(job->basis.files);
  REQUIRE(job->evaluations.size() == 1);
  const auto& settled = job->evaluations.front();
  CHECK(settled.data.folder() == "eval_test");
  CHECK(settled.data.steps == 2);
  CHECK(settled.throttle_secs == 5);
  CHECK(settled.when == evaluation_mode::beside);
  CHECK(settled.on_evaluator_failure == failure_policy::fail);
  CHECK(describe(over({}), training(9), {})->evaluations.empty());
}

TEST_CASE("a job knows the metrics that its hooks and exporters compare, but for those of a comparison of the user's") {
  auto own = best_exporter("own");
  own.better = [](const auto&, const auto&) { return true; };
  auto test = evaluation();
  test.name = "test";
  test.exporters = {latest_exporter(), best_exporter("best", {.metric = "auc"}), own};
  auto spec = training(9);
  spec.hooks = {*log_values({.every_steps = 1}), *reduce_on_plateau({.goal = {.evaluation = "test", .metric = "f1"}})};
  const auto job = describe(over({.model_dir = "m"}), spec, test);
  REQUIRE_MESSAGE(job, refusal(job));
  REQUIRE(job->asked.size() == 2);
  CHECK(job->asked[0].who == "reduce_on_plateau");
  CHECK(job->asked[0].evaluation == "test");
  CHECK(job->asked[0].metric == "f1");
  CHECK(job->asked[1].who == "the exporter 'best'");
  CHECK(job->asked[1].evaluation == "test");
  CHECK(job->asked[1].metric == "auc");
}

TEST_CASE("several evaluations keep their order, and two of one name are refused") {
  auto first = evaluation(), second = evaluation();
  second.name = "train";
  second.start_delay_secs = 3;
  const auto job = describe(over({.model_dir = "m"}), training(9), {first, second});
  REQUIRE_MESSAGE(job, refusal(job));
  REQUIRE(job->evaluations.size() == 2);
  CHECK(job->evaluations[0].data.folder() == "eval");
  CHECK(job->evaluations[1].data.folder() == "eval_train");
  CHECK(job->evaluations[1].start_delay_secs == 3);
  CHECK(refusal(describe(over({.model_dir = "m"}), training(9), {second, first, second}))
        == "two evaluations have the name 'train': give each a name of its own, which its results go by");
  CHECK(refusal(describe(over({.model_dir = "m"}), training(9), {first, first}))
        == "two evaluations have no name: give each a name of its own, which its results go by");
}

TEST_CASE("the earlier of max_steps and the end of the epochs is the end of a training") {
  const auto rows = *dataset::from_tensors({{"x", tensor::zeros(dtype::float32, {10, 2})}});
  const auto end = [&rows](std::optional<int64_t> max_steps, int64_t epochs) {
    const auto job = describe(over({}), {.input = rows.batch(4).repeat(), .max_steps = max_steps, .epochs = epochs},
                              {});
    REQUIRE_MESSAGE(job, refusal(job));
    return job->max_steps;
  };
  CHECK(end({}, 3) == 6);
  CHECK(end(5, 3) == 5);
  CHECK(end(7, 3) == 6);
}

TEST_CASE("a wish that cannot be is refused with its field, its value and what would be right") {
  CHECK(refusal(describe(over({}), training(0), {})) == "max_steps must be at least 1, not 0");
  CHECK(refusal(describe(over({}), training({}, -1), {})) == "steps must be at least 1, not -1");
  CHECK(refusal(describe(over({}), training(3, 4), {})) == "steps (4) and max_steps (3) cannot both be given");
  CHECK(refusal(describe(over({.replicas = 4294967297}), training(3), {}))
        == "replicas must be in [1, 1024], not 4294967297");
  CHECK(refusal(describe(over({}), training(3), evaluation()))
            .starts_with("an evaluation beside training needs checkpoints"));
  auto wrong = evaluation();
  wrong.throttle_secs = -1;
  CHECK(refusal(describe(over({}), wrong, {})) == "evaluation: throttle_secs must be at least 0, not -1");
  wrong = evaluation();
  wrong.name = "a/b";
  CHECK(refusal(describe(over({}), wrong, {}))
        == "the name of an evaluation becomes part of a directory's: 'a/b' has a slash");
  wrong.name = std::string{"a\0b", 3};
  CHECK(refusal(describe(over({}), wrong, {}))
        == "the name of an evaluation becomes part of a directory's: 'a?b' has a control character");
  wrong.name = std::string(201, 'a');
  CHECK(refusal(describe(over({}), wrong, {})).ends_with("a' has 201 bytes, and 200 at most fit"));
  CHECK(refusal(describe(over({}), evaluation(), checkpoint_ref::of_step(-1)))
        == "the step of a checkpoint must be at least 0, not -1");
  CHECK(refusal(describe(over({}), {.input = dataset_over(fake_batches(3)), .batches_ahead = 4294967296}))
        == "prediction: batches_ahead must be in [0, 2147483647], not 4294967296");
}

TEST_CASE(
    "[EST-19] steps and max_steps exclude one another, neither can be 0 or less, and parameter servers and evaluators "
    "do not train") {
  for (const auto& [max_steps, steps] : std::vector<std::pair<std::optional<int64_t>, std::optional<int64_t>>>{
           {4, 3}, {4, 0}, {0, {}}, {-1, {}}, {{}, 0}, {{}, -1}}) {
    const std::string refused = refusal(train(over({}), training(max_steps, steps)));
    if (max_steps && steps)
      CHECK(refused
            == "steps (" + std::to_string(*steps) + ") and max_steps (" + std::to_string(*max_steps)
                   + ") cannot both be given");
    else
      CHECK(refused
            == (steps ? "steps" : "max_steps") + std::string{" must be at least 1, not "}
                   + std::to_string(steps ? *steps : *max_steps));
  }
  for (const std::string type : {"ps", "evaluator"}) {
    auto e = over({});
    e.cluster = cluster{.jobs = {{"chief", {"a:1"}}, {"ps", {"b:1"}}}, .task = {type, 0}};
    CHECK(refusal(train(e, training(3)))
          == "train() cannot run in a task of the type '" + type + "': use train_and_evaluate()");
  }
}

static_assert(can_be_called<estimator, train_spec, eval_spec> && can_be_called<estimator, train_spec, eval_specs>);
static_assert(!can_be_called<model, train_spec, eval_spec>);
static_assert(!can_be_called<estimator, eval_spec, eval_spec>);
static_assert(!can_be_called<estimator, train_spec, train_spec>);

TEST_CASE(
    "[EST-73] of the specs of train_and_evaluate the first that cannot be is refused, with its field, and nothing is "
    "made") {
  temporary_directory directory;
  auto e = over({.model_dir = directory / "run"});
  auto trained = training(3);
  auto evaluated = evaluation();
  const auto refused = [&](const std::string& message) {
    CHECK(refusal(train_and_evaluate(e, trained, evaluated)) == message);
    CHECK_FALSE(std::filesystem::exists(directory / "run"));
  };
  evaluated.steps = 0;
  refused("evaluation: steps must be at least 1, not 0");
  evaluated.steps = {};
  evaluated.start_delay_secs = -1;
  refused("evaluation: start_delay_secs must be at least 0, not -1");
  evaluated.start_delay_secs = 0;
  evaluated.throttle_secs = -0.5;
  refused("evaluation: throttle_secs must be at least 0, not -0.5");
  trained.max_steps = 0;
  refused("max_steps must be at least 1, not 0");
  e.model.build = {};
  refused("the model echo has no function to build it");
}

TEST_CASE("[EST-24] saving listeners are refused where no checkpoint is ever saved") {
  using listener = decltype(train_spec::saving_listeners)::value_type;
  static_assert(std::is_constructible_v<listener, std::shared_ptr<saving_listener>>);
  static_assert(!std::is_constructible_v<listener, std::shared_ptr<hook>>);
  temporary_directory directory;
  auto e = over({});
  auto listened = training(3);
  listened.saving_listeners = {std::make_shared<saving_listener>()};
  const std::string refused =
      "saving_listeners need checkpoints: give a model_dir, and a save_checkpoints_steps or save_checkpoints_secs that "
      "is not none";
  CHECK(refusal(train(e, listened)) == refused);
  e.config.model_dir = directory / "run";
  e.config.save_checkpoints_steps = setting<int64_t>{std::nullopt};
  e.config.save_checkpoints_secs = setting<double>{std::nullopt};
  CHECK(refusal(train(e, listened)) == refused);
  CHECK_FALSE(std::filesystem::exists(directory / "run"));
}

TEST_CASE("[EST-48] an evaluation every 0 steps is refused") {
  temporary_directory directory;
  auto evaluated = evaluation();
  evaluated.every_steps = 0;
  CHECK(refusal(train_and_evaluate(over({.model_dir = directory / "run"}), training(3), evaluated))
        == "evaluation: every_steps must be at least 1, not 0");
}

TEST_CASE(
    "[EST-14] an estimator is a value, and jobs copy it: what is changed in a copy, or in itself later, reaches no job "
    "that has begun") {
  temporary_directory directory;
  dnn_classifier_options options{.hidden_units = {4}, .classes = 3};
  estimator e{dnn_classifier(options), {.model_dir = directory / "run", .seed = 7}};
  options.hidden_units = {9};
  auto copy = e;
  copy.config.model_dir = directory / "other";
  copy.model.build = {};
  CHECK(e.config.model_dir == directory / "run");

  train_spec spec{.input = small_dataset().batch(4).repeat(), .max_steps = 12};
  auto job = start(e, spec);
  REQUIRE_MESSAGE(job, refusal(job));
  e = copy;
  spec.max_steps = 1;
  const auto result = job->wait(std::chrono::seconds{60});
  REQUIRE_MESSAGE(result, refusal(result));
  CHECK(result->global_step == 12);
  CHECK(result->checkpoint == directory / "run/model.ckpt-12");
  CHECK(load_variables(directory / "run")->at("dnn/hiddenlayer_0/kernel").dims() == shape{8, 4});
  CHECK_FALSE(std::filesystem::exists(directory / "other"));
  CHECK_MESSAGE(refusal(train(e, spec)) == "the model dnn_classifier has no function to build it",
                "a later call sees it");
}

TEST_CASE("an evaluation or a prediction of a step is of that one, and without a step of the newest") {
  CHECK(describe(over({}), evaluation(), checkpoint_ref::of_step(0))->checkpoint.which.step == 0);
  CHECK(describe(over({}), evaluation(), {})->checkpoint.which.step < 0);
  CHECK(describe(over({}), evaluation(), checkpoint_ref::best())->checkpoint.which.best);
  const auto by_path = describe(over({}), evaluation(), checkpoint_ref::of_path("runs/a/model.ckpt-8-iteration-2"));
  CHECK(by_path->checkpoint.directory == "runs/a");
  CHECK(by_path->checkpoint.which.step == 8);
  CHECK(by_path->checkpoint.which.iteration == 2);
  CHECK(describe(over({}), evaluation(), {})->data.folder() == "eval");
  const auto job = describe(over({.seed = 5}), predict_spec{.input = dataset_over(fake_batches(3)),
                                                            .keys = {"row"},
                                                            .checkpoint = checkpoint_ref::of_step(7),
                                                            .single_examples = false});
  REQUIRE_MESSAGE(job, refusal(job));
  CHECK(job->checkpoint.which.step == 7);
  CHECK(job->choice.keys == std::vector<std::string>{"row"});
  CHECK_FALSE(job->choice.single_examples);
  CHECK(job->batches_ahead == 16);
  CHECK(job->basis.config.seed == 5);
}

}  // namespace troupe::test
