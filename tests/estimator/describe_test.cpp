#include "estimator/describe.hpp"

#include "support/prediction_case.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

estimator over(run_config config) { return {echo_model(), std::move(config)}; }

template <class T>
std::string why(const expected<T>& described) {
  if (!described)
    CHECK(described.error().category == errc::invalid_argument);
  return described ? "" : described.error().message;
}

train_spec training(std::optional<int64_t> max_steps = {}, std::optional<int64_t> steps = {}) {
  return {.input = dataset_over(fake_batches(3)), .max_steps = max_steps, .steps = steps};
}
eval_spec evaluation() { return {.input = dataset_over(fake_batches(3))}; }

}  // namespace

TEST_CASE("a training's wishes are settled: when it saves, its seed, its shards, and the folder of its evaluations") {
  auto beside = evaluation();
  beside.name = "test";
  beside.throttle_secs = 5;
  beside.when = evaluation_mode::beside;
  beside.steps = 2;
  const auto job = describe(over({.model_dir = "m", .replicas = 4}), training(9), beside);
  REQUIRE_MESSAGE(job, why(job));
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

TEST_CASE("several evaluations keep their order, and two of one name are refused") {
  auto first = evaluation(), second = evaluation();
  second.name = "train";
  second.start_delay_secs = 3;
  const auto job = describe(over({.model_dir = "m"}), training(9), {first, second});
  REQUIRE_MESSAGE(job, why(job));
  REQUIRE(job->evaluations.size() == 2);
  CHECK(job->evaluations[0].data.folder() == "eval");
  CHECK(job->evaluations[1].data.folder() == "eval_train");
  CHECK(job->evaluations[1].start_delay_secs == 3);
  CHECK(why(describe(over({.model_dir = "m"}), training(9), {second, first, second}))
        == "two evaluations have the name 'train': give each a name of its own, which its results go by");
  CHECK(why(describe(over({.model_dir = "m"}), training(9), {first, first}))
        == "two evaluations have no name: give each a name of its own, which its results go by");
}

TEST_CASE("the earlier of max_steps and the end of the epochs is the end of a training") {
  const auto rows = *dataset::from_tensors({{"x", tensor::zeros(dtype::float32, {10, 2})}});
  const auto end = [&rows](std::optional<int64_t> max_steps, int64_t epochs) {
    const auto job = describe(over({}), {.input = rows.batch(4).repeat(), .max_steps = max_steps, .epochs = epochs}, {});
    REQUIRE_MESSAGE(job, why(job));
    return job->max_steps;
  };
  CHECK(end({}, 3) == 6);
  CHECK(end(5, 3) == 5);
  CHECK(end(7, 3) == 6);
}

TEST_CASE("a wish that cannot be is refused with its field, its value and what would be right") {
  CHECK(why(describe(over({}), training(0), {})) == "max_steps must be at least 1, not 0");
  CHECK(why(describe(over({}), training({}, -1), {})) == "steps must be at least 1, not -1");
  CHECK(why(describe(over({}), training(3, 4), {})) == "steps (4) and max_steps (3) cannot both be given");
  CHECK(why(describe(over({.replicas = 4294967297}), training(3), {})) == "replicas must be in [1, 1024], not 4294967297");
  CHECK(why(describe(over({}), training(3), evaluation())).starts_with("an evaluation beside training needs checkpoints"));
  auto wrong = evaluation();
  wrong.throttle_secs = -1;
  CHECK(why(describe(over({}), wrong, {})) == "evaluation: throttle_secs must be at least 0, not -1");
  wrong = evaluation();
  wrong.name = "a/b";
  CHECK(why(describe(over({}), wrong, {})) == "the name of an evaluation becomes part of a directory's: 'a/b' has a slash");
  CHECK(why(describe(over({}), evaluation(), -1)) == "evaluation: step must be at least 0, not -1");
  CHECK(why(describe(over({}), {.input = dataset_over(fake_batches(3)), .batches_ahead = 4294967296}))
        == "prediction: batches_ahead must be in [0, 2147483647], not 4294967296");
}

TEST_CASE("an evaluation or a prediction of a step is of that one, and without a step of the newest") {
  CHECK(describe(over({}), evaluation(), 0)->step == 0);
  CHECK_FALSE(describe(over({}), evaluation(), {})->step);
  CHECK(describe(over({}), evaluation(), {})->data.folder() == "eval");
  const auto job = describe(over({.seed = 5}), predict_spec{.input = dataset_over(fake_batches(3)), .keys = {"row"}, .step = 7, .single_examples = false});
  REQUIRE_MESSAGE(job, why(job));
  CHECK(job->step == 7);
  CHECK(job->choice.keys == std::vector<std::string>{"row"});
  CHECK_FALSE(job->choice.single_examples);
  CHECK(job->batches_ahead == 16);
  CHECK(job->basis.config.seed == 5);
}

}  // namespace troupe::test
