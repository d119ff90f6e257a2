// Jobs that begin with the variables of other jobs, as a user's program starts them.
#include "tests/estimator/small_start.hpp"

#include <troupe/canned_models.hpp>
#include <troupe/convert.hpp>
#include <troupe/predict.hpp>
#include <troupe/warm_start.hpp>

#include <doctest/doctest.h>

#include <cmath>

namespace troupe::test {

namespace {

using variables = std::map<std::string, tensor>;

/// The tensors of the checkpoint of `step`; those of step 0 are what the job began with.
variables at(const std::string& directory, int64_t step) {
  auto found = load_variables(directory, checkpoint_ref::of_step(step));
  REQUIRE_MESSAGE(found, why(found));
  return std::move(*found);
}
estimator started_from(const std::string& directory, warm_start_settings settings) {
  auto e = small_estimator(directory);
  e.config.seed = 8;
  e.warm_start = std::move(settings);
  return e;
}
int64_t trained(const estimator& e, int64_t max_steps) {
  const auto result = train(e, small_training(max_steps));
  REQUIRE_MESSAGE(result, why(result));
  return result->global_step;
}

/// The model of tests/golden/tensorflow-v2/estimator: TensorFlow's DNNClassifier with 4 numbers, 3 units and 3 classes.
estimator tensorflow_twin(const std::string& directory, const std::optional<warm_start_settings>& start = {}) {
  return {dnn_classifier({.hidden_units = {3}, .classes = 3, .optimizer = adam{.rate = 0.05f}}),
          {.model_dir = directory, .save_summary_steps = 0, .save_checkpoints_steps = 1'000'000},
          start};
}
/// The data of that model: one batch of 8 rows, the same at every step.
dataset tensorflow_data() {
  std::vector<float> x;
  std::vector<int32_t> y;
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 4; ++j)
      x.push_back(static_cast<float>((i * 7 + j * 3) % 11 / 10.0 - 0.5));
    y.push_back(i % 3);
  }
  return *dataset::from_tensors({{"x", tensor::of<float>({8, 4}, std::span<const float>{x})}},
                                {{"y", tensor::of<int32_t>({8}, std::span<const int32_t>{y})}});
}
const std::string golden = TROUPE_GOLDEN_DIR "/tensorflow-v2/estimator";
/// The same data with TensorFlow's DNNLinearCombinedClassifier and its default optimizers.
const std::string golden_combined = TROUPE_GOLDEN_DIR "/tensorflow-v2/combined";

/// The maximum of the differences between elements of two states; infinite if a tensor of `a` is missing in `b`.
double distance(const variables& a, const variables& b) {
  double far = 0;
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    if (other == b.end() || other->second.dims() != value.dims())
      return INFINITY;
    if (value.type() == dtype::float32)
      for (size_t i = 0; i < value.as<float>().size(); ++i)
        far = std::max(far, static_cast<double>(std::abs(value.as<float>()[i] - other->second.as<float>()[i])));
  }
  return far;
}

}  // namespace

TEST_CASE("[EST-64] a job begins with another's variables once, and goes on from its own checkpoint afterwards") {
  temporary_directory directory;
  trained(small_estimator(directory / "old"), 10);
  const auto old = at(directory / "old", 10);
  const auto e = started_from(directory / "new", {.ckpt_to_initialize_from = directory / "old"});
  CHECK_MESSAGE(trained(e, 6) == 6, "the steps count from 0");
  const auto first = at(directory / "new", 0);
  CHECK(first.at("dense/kernel") == old.at("dense/kernel"));
  CHECK(first.at("dense_1/bias") == old.at("dense_1/bias"));
  CHECK_MESSAGE(!(first.at("dense/kernel/Adam") == old.at("dense/kernel/Adam")), "slots begin anew");
  const auto sixth = at(directory / "new", 6);
  CHECK_FALSE(sixth.at("dense/kernel") == old.at("dense/kernel"));
  std::filesystem::remove_all(directory / "old");
  CHECK_MESSAGE(trained(e, 8) == 8, "the source is not looked at once there is a checkpoint");
  CHECK(inspect_checkpoint(directory / "new/model.ckpt-8")->properties.at("warm_start")
        == directory / "old/model.ckpt-10");
}

TEST_CASE("the same state and step from another run, slots too, go on as that run would have: to the last bit") {
  temporary_directory directory;
  // The batch is the same at each step, so the position in the data does not matter.
  const auto input = small_dataset(4).batch(4).repeat();
  const auto steps_to = [&](const estimator& e, int64_t end) {
    const auto result = train(e, {.input = input, .max_steps = end});
    REQUIRE_MESSAGE(result, why(result));
  };
  steps_to(small_estimator(directory / "old"), 5);
  auto taken = started_from(directory / "new",
                            {.ckpt_to_initialize_from = directory / "old", .global_vars_to_warm_start = {".*"}});
  taken.config.seed = 7;  // Dropout depends on the seed.
  steps_to(small_estimator(directory / "old"), 9);
  taken.warm_start->ckpt_to_initialize_from = directory / "old/model.ckpt-5";
  steps_to(taken, 9);
  CHECK(at(directory / "new", 5).size() == at(directory / "old", 5).size());
  CHECK(distance(at(directory / "new", 9), at(directory / "old", 9)) == 0);
}

TEST_CASE("what is taken and frozen keeps its values, has no slots, and stays frozen when the job goes on") {
  temporary_directory directory;
  trained(small_estimator(directory / "old"), 3);
  const auto e = started_from(
      directory / "new",
      {.ckpt_to_initialize_from = directory / "old", .vars_to_warm_start = "dense/", .freeze = true});
  trained(e, 4);
  std::filesystem::remove_all(directory / "old");
  trained(e, 8);
  const auto first = at(directory / "new", 0), last = at(directory / "new", 8);
  CHECK(first.at("dense/kernel") == last.at("dense/kernel"));
  CHECK(first.at("dense/bias") == last.at("dense/bias"));
  CHECK_FALSE(last.contains("dense/kernel/Adam"));
  CHECK_FALSE(first.at("dense_1/kernel") == last.at("dense_1/kernel"));
  CHECK(last.contains("dense_1/kernel/Adam"));
  const auto nothing = train(
      started_from(directory / "other", {.ckpt_to_initialize_from = directory / "new", .freeze = true}),
      small_training(2));
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().message == "warm_start.freeze: every trainable variable is taken, and none is left to train");
}

TEST_CASE("an error of a warm start comes before the first step, and leaves no model directory") {
  temporary_directory directory;
  trained(small_estimator(directory / "old"), 2);
  const auto refused = [&](warm_start_settings settings) {
    const auto running = start(started_from(directory / "new", std::move(settings)), small_training(4));
    REQUIRE_FALSE(running);
    CHECK_FALSE(std::filesystem::exists(directory / "new"));
    return running.error();
  };
  CHECK(refused({.ckpt_to_initialize_from = directory / "nowhere"}).category == errc::not_found);
  CHECK(refused({}).message == "warm_start.ckpt_to_initialize_from must name a checkpoint, not ''");
  CHECK(refused({.ckpt_to_initialize_from = directory / "old",
                 .var_name_to_prev_var_name = {{"dense/kernel", "dense/bias"}}})
            .message
        == "warm start from " + (directory / "old/model.ckpt-2")
               + ": 1 variable differs: 'dense/kernel' is float32[8, 5], and 'dense/bias' is float32[5] there");
}

TEST_CASE(
    "an evaluation and a prediction without a checkpoint use what a warm start takes, and a job without a directory "
    "does too") {
  temporary_directory directory;
  trained(small_estimator(directory / "old"), 10);
  const auto input = small_dataset(20).batch(8);
  const auto wanted = evaluate(small_estimator(directory / "old"), {.input = input});
  REQUIRE_MESSAGE(wanted, why(wanted));
  const auto e = started_from(directory / "new", {.ckpt_to_initialize_from = directory / "old"});
  const auto found = evaluate(e, {.input = input});
  REQUIRE_MESSAGE(found, why(found));
  CHECK(found->metrics.at("loss") == wanted->metrics.at("loss"));
  CHECK(found->checkpoint.empty());
  const auto first = [&](const estimator& by) {
    auto stream = predict(by, {.input = input});
    REQUIRE_MESSAGE(stream, why(stream));
    const auto one = stream->next();
    REQUIRE_MESSAGE(one, why(one));
    return (*one)->values.at("probabilities");
  };
  CHECK(first(e) == first(small_estimator(directory / "old")));
  auto nowhere = e;
  nowhere.config = {.seed = 8};
  nowhere.warm_start->freeze = true;
  nowhere.warm_start->vars_to_warm_start = "dense/";
  CHECK(train(nowhere, small_training(3)).has_value());
}

TEST_CASE("a real Estimator's checkpoint is converted and trained on as TensorFlow itself trained on from it") {
  temporary_directory directory;
  const auto done = convert_checkpoint(golden, directory / "mine");
  REQUIRE_MESSAGE(done, why(done));
  CHECK(done->step == 6);
  CHECK(newest_step(directory / "mine") == 6);
  const auto e = tensorflow_twin(directory / "mine");
  const auto before = evaluate(e, {.input = tensorflow_data().batch(8)});
  REQUIRE_MESSAGE(before, why(before));
  CHECK(before->global_step == 6);
  const auto result = train(e, {.input = tensorflow_data().batch(8).repeat(), .max_steps = 12});
  REQUIRE_MESSAGE(result, why(result));
  CHECK(result->steps_run == 6);
  REQUIRE(convert_checkpoint(golden, directory / "theirs", {.step = 12}));
  const double far = distance(at(directory / "theirs", 12), at(directory / "mine", 12));
  CHECK_MESSAGE(far < 1e-5, far);
  CHECK(distance(at(directory / "mine", 6), at(directory / "mine", 12)) > 1e-2);
}

TEST_CASE(
    "a combined model with its own defaults trains on from a real Estimator's checkpoint as TensorFlow's did with its "
    "own") {
  temporary_directory directory;
  REQUIRE(convert_checkpoint(golden_combined, directory / "mine"));
  const estimator e{dnn_linear_combined_model({.hidden_units = {3}, .head = multi_class_head{.classes = 3}}),
                    {.model_dir = directory / "mine", .save_summary_steps = 0, .save_checkpoints_steps = 1'000'000}};
  const auto result = train(e, {.input = tensorflow_data().batch(8).repeat(), .max_steps = 12});
  REQUIRE_MESSAGE(result, why(result));
  CHECK(result->steps_run == 6);
  REQUIRE(convert_checkpoint(golden_combined, directory / "theirs", {.step = 12}));
  const double far = distance(at(directory / "theirs", 12), at(directory / "mine", 12));
  CHECK_MESSAGE(far < 1e-6, far);
  CHECK(distance(at(directory / "mine", 6), at(directory / "mine", 12)) > 1e-3);
}

TEST_CASE(
    "a warm start from a real Estimator's model directory takes its trainable variables, and with its slots and step "
    "it trains on as TensorFlow did") {
  temporary_directory directory;
  REQUIRE(convert_checkpoint(golden, directory / "theirs", {.step = 12}));
  const auto run = [&](const std::string& name, warm_start_settings settings) {
    settings.ckpt_to_initialize_from = golden;
    const auto result = train(tensorflow_twin(directory / name, settings),
                              {.input = tensorflow_data().batch(8).repeat(), .max_steps = 12});
    REQUIRE_MESSAGE(result, why(result));
    return result->steps_run;
  };
  CHECK(run("variables", {}) == 12);
  CHECK(run("everything", {.global_vars_to_warm_start = {".*"}}) == 6);
  const double far = distance(at(directory / "theirs", 12), at(directory / "everything", 12));
  CHECK_MESSAGE(far < 1e-5, far);
  CHECK(distance(at(directory / "variables", 0), at(directory / "everything", 6)) > 0);
  CHECK(at(directory / "variables", 0).at("dnn/logits/kernel")
        == at(directory / "everything", 6).at("dnn/logits/kernel"));
}

}  // namespace troupe::test
