// Evaluations without training, as a user's program calls them.
#include "small_start.hpp"
#include "support/has.hpp"
#include "support/prediction_case.hpp"

#include <troupe/estimator.hpp>
#include <troupe/input_function.hpp>
#include <troupe/job.hpp>
#include <troupe/predict.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// A model whose loss is the mean of x.
estimator mean_of_x() {
  return {model{"mean",
                [](graph& g, const features& x, const labels&, mode m) {
                  const symbol w = g.variable({.name = "w", .dims = {1}, .initial = init::ones()});
                  return model_spec{.mode = m, .loss = reduce_mean(mul(x["x"], w)), .optimizer = gradient_descent{}};
                }},
          {}};
}

}  // namespace

TEST_CASE(
    "[EST-30] losses 1, 2 and 6 on batches of 1, 1 and 8 rows are 3 on average: a batch weighs the same whatever its "
    "size") {
  const auto source = fake_batches(3);
  source->rows = 8;
  source->rows_at = {{0, 1}, {1, 1}};
  // Each row of batch s has the loss 1 + 1.5 s² - 0.5 s, where s = floor(x / 100); so has the batch.
  const estimator e{model{"losses",
                          [](graph& g, const features& x, const labels&, mode m) {
                            const symbol w = g.variable({.name = "w", .dims = {1}, .initial = init::ones()});
                            const symbol s = floor(scale(mul(x["x"], w), 0.01));
                            const symbol row = scale(square(s), 1.5) - scale(s, 0.5) + g.constant(tensor::scalar(1.0f));
                            return model_spec{.mode = m, .loss = reduce_mean(row), .optimizer = gradient_descent{}};
                          }},
                    {}};
  const auto result = evaluate(e, {.input = dataset_over(source)});
  REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
  CHECK(result->batches == 3);
  CHECK(result->metrics.at("loss") == 3);
}

TEST_CASE(
    "[EST-35] without a checkpoint initial variables are evaluated, and a checkpoint that is named by its prefix "
    "though newer ones exist") {
  const auto fresh = evaluate(mean_of_x(), {.input = dataset_over(fake_batches(3))});
  REQUIRE_MESSAGE(fresh, why(fresh));
  CHECK(fresh->checkpoint.empty());
  CHECK(fresh->metrics.at("loss") == 101.5);

  const temporary_directory directory;
  const auto e = small_estimator(directory / "run");
  const eval_spec on{.input = small_dataset(20).batch(8)};
  std::map<int64_t, double> losses;
  std::map<int64_t, std::string> prefixes;
  for (const int64_t until : {5, 10}) {
    const auto trained = train(e, small_training(until));
    REQUIRE_MESSAGE(trained, why(trained));
    losses[until] = evaluate(e, on)->metrics.at("loss");
    prefixes[until] = trained->checkpoint;
  }
  REQUIRE(losses[5] != losses[10]);
  for (const int64_t step : {5, 10}) {
    const auto named = evaluate(e, on, checkpoint_ref::of_path(prefixes[step]));
    REQUIRE_MESSAGE(named, why(named));
    CHECK(named->metrics.at("loss") == losses[step]);
    CHECK(named->global_step == step);
    CHECK(named->checkpoint == prefixes[step]);
    // An estimator without a directory finds it too, and so do predictions.
    CHECK(evaluate({small_model(), {}}, on, checkpoint_ref::of_path(prefixes[step]))->metrics.at("loss")
          == losses[step]);
    auto predictions = predict(
        e, {.input = small_dataset(20).batch(8), .checkpoint = checkpoint_ref::of_path(prefixes[step])});
    REQUIRE(predictions);
    REQUIRE(predictions->next());
    CHECK(predictions->checkpoint() == prefixes[step]);
  }
  CHECK(evaluate(e, on, checkpoint_ref::of_path(directory / "run/model.ckpt-7")).error().category == errc::not_found);
  CHECK(evaluate(e, on, checkpoint_ref::of_path(directory / "run/model")).error().message
        == "'" + (directory / "run/model")
               + "' names no checkpoint; a path is dir/model.ckpt-<step>, as inspect lists them");
  CHECK(evaluate(e, on, checkpoint_ref::of_path("")).error().category == errc::invalid_argument);
  CHECK(evaluate(e, on, checkpoint_ref::of_step(-2)).error().message
        == "the step of a checkpoint must be at least 0, not -2");
}

TEST_CASE(
    "[EST-31] an evaluation reads all seven batches, three where three are asked for, and cannot be asked for none") {
  const auto run = [](std::optional<int64_t> steps) {
    const auto source = fake_batches(7);
    const auto result = evaluate(mean_of_x(), {.input = dataset_over(source), .steps = steps});
    REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
    CHECK(source->reads.size() == static_cast<size_t>(result->batches));
    return std::pair{result->batches, result->metrics.at("loss")};
  };
  CHECK(run(std::nullopt) == std::pair<int64_t, double>{7, 301.5});
  CHECK(run(3) == std::pair<int64_t, double>{3, 101.5});
  CHECK_MESSAGE(run(9).first == 7, "data that end before are no error");
  for (const int64_t steps : {0, -1}) {  // Refused before the data are opened.
    const auto source = fake_batches(7);
    const auto refused = evaluate(mean_of_x(), {.input = dataset_over(source), .steps = steps});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().category == errc::invalid_argument);
    CHECK(refused.error().message == "evaluation: steps must be at least 1, not " + std::to_string(steps));
    CHECK(source->opened == 0);
  }
}

TEST_CASE(
    "[DF-26] without a number of steps training and evaluation go on to the end of the data; with five, five batches "
    "are evaluated") {
  const auto trained = train(mean_of_x(), {.input = dataset_over(fake_batches(7))});
  REQUIRE_MESSAGE(trained, (trained ? "" : to_text(trained.error())));
  CHECK(trained->global_step == 7);
  for (const auto& [wanted, read] : {std::pair<std::optional<int64_t>, int64_t>{std::nullopt, 7}, {5, 5}}) {
    const auto evaluated = evaluate(mean_of_x(), {.input = dataset_over(fake_batches(7)), .steps = wanted});
    REQUIRE_MESSAGE(evaluated, (evaluated ? "" : to_text(evaluated.error())));
    CHECK(evaluated->batches == read);
  }
}

TEST_CASE("an evaluation of data that never end is refused before anything is trained, unless something ends it") {
  const auto refused = [](const auto& result, const std::string& what) {
    REQUIRE_FALSE(result);
    CHECK(result.error().category == errc::invalid_argument);
    CHECK_MESSAGE(result.error().message
                      == what + " never ends (tensors -> batch(4) -> repeat), and it has no steps: give steps, or "
                                "leave repeat() out",
                  why(result));
  };
  const auto data = small_dataset().batch(4).repeat();
  const temporary_directory directory;
  const auto e = small_estimator(directory / "run");
  refused(evaluate(e, {.input = data}), "the input of the evaluation");
  refused(train_and_evaluate(e, small_training(2), {.input = data, .name = "test"}),
          "the input of the evaluation 'test'");
  CHECK_FALSE(std::filesystem::exists(directory / "run"));
  CHECK(evaluate(e, {.input = data, .steps = 3})->batches == 3);
  struct stopper final : hook {
    needs begin(int64_t) override { return {.steps = {{.every = 1}}}; }
    void on_step(const step_facts& s, job_control& job) override {
      if (s.step == 2)
        job.stop();
    }
  };
  CHECK(evaluate(e, {.input = data, .hooks = {std::make_shared<stopper>()}})->batches == 2);
  const auto function = from_input_function({.batch_size = 4}, [&](const input_context&) { return data; });
  const auto of_function = evaluate(e, {.input = function});
  REQUIRE_FALSE(of_function);
  CHECK(has(why(of_function), "never ends (tensors -> batch(4) -> repeat, from the input function"));
}

TEST_CASE("[EST-13] a model without a function is refused by its name, whatever is asked of it") {
  // A function needs the four parameters of model_fn, and a configuration is a run_config.
  static_assert(std::is_constructible_v<model_fn, model_spec (*)(graph&, const features&, const labels&, mode)>);
  static_assert(!std::is_constructible_v<model_fn, model_spec (*)(graph&, const features&, mode)>);
  static_assert(!std::is_constructible_v<model_fn, model_spec (*)(graph&, const features&, const labels&, mode, int)>);
  static_assert(std::is_assignable_v<decltype(estimator::config)&, run_config>);
  static_assert(!std::is_assignable_v<decltype(estimator::config)&, train_spec>);
  const estimator empty{model{"hollow", {}}, {}};
  const auto input = dataset_over(fake_batches(1));
  const auto refused = [](const auto& result) {
    REQUIRE_FALSE(result);
    CHECK(result.error().category == errc::invalid_argument);
    CHECK(result.error().message == "the model hollow has no function to build it");
  };
  refused(train(empty, {.input = input, .max_steps = 1}));
  refused(start(empty, {.input = input, .max_steps = 1}));
  refused(evaluate(empty, {.input = input}));
  refused(train_and_evaluate(empty, {.input = input, .max_steps = 1}, {.input = input}));
  refused(predict(empty, {.input = input}));
}

}  // namespace troupe::test
