// Jobs with the default of `intra_op_threads`, on real threads.
#include "small_start.hpp"

#include <troupe/job.hpp>
#include <troupe/predict.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

struct outcome {
  checkpoint_content state;
  evaluation_result evaluated;
  std::vector<tensor> predicted;
};

outcome outcome_of(const run_config& config) {
  const temporary_directory directory;
  estimator e{wide_model(), config};
  e.config.model_dir = directory / "run";
  const auto trained = train(e, {.input = small_dataset(512).shuffle().batch(256).repeat(), .max_steps = 6});
  REQUIRE_MESSAGE(trained, why(trained));
  const auto evaluated = evaluate(e, {.input = small_dataset(500).batch(200)});
  REQUIRE_MESSAGE(evaluated, why(evaluated));
  auto stream = predict(e, {.input = small_dataset(300).batch(256), .keys = {"probabilities"}});
  REQUIRE_MESSAGE(stream, why(stream));
  outcome all{{}, *evaluated, {}};
  for (auto next = stream->next(); next && *next; next = stream->next())
    all.predicted.push_back((**next).values.at("probabilities"));
  CHECK(all.predicted.size() == 300);
  const auto store = checkpoint_store::open(posix_file_system(), *e.config.model_dir, {.read_only = true});
  REQUIRE(store.has_value());
  auto newest = (*store)->restore_newest();
  REQUIRE(newest.has_value());
  all.state = std::move(newest->content);
  return all;
}

}  // namespace

TEST_CASE("training, evaluation and prediction have the same bits by default as on 1, 2 and 4 threads") {
  const run_config defaults{.seed = 7, .save_summary_steps = 0, .save_checkpoints_steps = 1'000'000};
  CHECK(defaults.intra_op_threads == 0);
  const auto automatic = outcome_of(defaults);
  for (const int64_t threads : {1, 2, 4}) {
    CAPTURE(threads);
    auto config = defaults;
    config.intra_op_threads = threads;
    const auto given = outcome_of(config);
    CHECK(same_state(given.state, automatic.state));
    CHECK(given.evaluated.metrics == automatic.evaluated.metrics);
    CHECK(given.predicted == automatic.predicted);
  }
}

}  // namespace troupe::test
