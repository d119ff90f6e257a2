// The table of a search's errors, each as the caller of `train` gets it.
#include "estimator/small_start.hpp"
#include "tests/support/has.hpp"

#include <troupe/search/generators.hpp>
#include <troupe/search/searcher.hpp>

#include <doctest/doctest.h>

#include <limits>

namespace troupe::test {

namespace {

dataset rows() { return small_dataset().batch(4).repeat(); }

subnetwork dense_of(const build_context& c, int64_t units) {
  const auto h = nn::dense(c.features["x"], {.units = units, .activation = relu});
  return {.last_layer = h, .logits = nn::dense(h, {.units = 3}), .complexity = 1};
}
builder dense_builder(const std::string& name, int64_t units = 4) {
  return {.name = name, .build = [units](graph&, const build_context& c) { return dense_of(c, units); }};
}

/// A search of one iteration of two ticks, in a directory of its own.
struct refused_search {
  temporary_directory at;
  searcher s{{.head = multi_class_head{.classes = 3},
              .subnetwork_generator = generators::list({dense_builder("dense")}),
              .max_iteration_steps = 2,
              .ensemblers = {mean_ensembler{}},
              .max_iterations = 1},
             small_estimator(at.path).config};
  train_spec training{.input = rows()};

  void is_refused(errc category, const std::string& part) const {
    const auto result = train(s, training);
    REQUIRE_FALSE(result);
    CHECK_MESSAGE(result.error().category == category, why(result));
    CHECK(has(why(result), part));
  }
};

}  // namespace

TEST_CASE("[ADA-22.6 error table] options that are missing or out of range are refused by name") {
  const auto refused = [](const std::function<void(searcher&)>& edit, const std::string& part) {
    CAPTURE(part);
    refused_search x;
    edit(x.s);
    x.is_refused(errc::invalid_argument, part);
  };
  refused([](searcher& s) { s.search.subnetwork_generator = {}; }, "subnetwork_generator is missing");
  for (const int64_t wrong : {0, -1}) {
    const auto text = " must be at least 1, not " + std::to_string(wrong);
    refused([wrong](searcher& s) { s.search.max_iteration_steps = wrong; }, "max_iteration_steps" + text);
    refused([wrong](searcher& s) { s.search.max_iterations = wrong; }, "max_iterations" + text);
  }
  refused([](searcher& s) { s.config.model_dir.reset(); }, "give a model_dir");
  refused(
      [](searcher& s) {
        s.config.model_dir.reset();
        s.search.ensemblers = {complexity_regularized_ensembler{.warm_start_mixture_weights = true}};
      },
      "give a model_dir");
  refused([](searcher& s) { s.search.evaluator = search_evaluator{}; }, "evaluator.input is missing");
}

TEST_CASE("[ADA-22.6 error table] steps and max_steps together, and steps below 1, are refused") {
  const auto refused = [](const std::function<void(train_spec&)>& edit, const std::string& part) {
    CAPTURE(part);
    refused_search x;
    edit(x.training);
    x.is_refused(errc::invalid_argument, part);
  };
  refused([](train_spec& t) { t.steps = t.max_steps = 2; }, "cannot both be given");
  for (const int64_t wrong : {0, -1}) {
    const auto text = "steps must be at least 1, not " + std::to_string(wrong);
    refused([wrong](train_spec& t) { t.steps = wrong; }, ": " + text);
    refused([wrong](train_spec& t) { t.max_steps = wrong; }, ": max_" + text);
  }
}

TEST_CASE("[ADA-22.6 error table] no builders, equal names of builders or ensembles, and no candidates are refused") {
  const auto refused = [](const std::function<void(search_options&)>& edit, const std::string& part) {
    CAPTURE(part);
    refused_search x;
    edit(x.s.search);
    x.is_refused(errc::invalid_argument, part);
  };
  refused([](search_options& o) { o.subnetwork_generator = generators::list({}); },
          "the generator returned no builders");
  refused(
      [](search_options& o) {
        o.subnetwork_generator = generators::list({dense_builder("a"), dense_builder("a")});
      },
      "two builders have the name 'a'");
  refused(
      [](search_options& o) {
        o.ensemblers = {mean_ensembler{}, mean_ensembler{}};
      },
      "two ensemblers have the name 'mean'");
  refused(
      [](search_options& o) {
        o.ensemble_strategies = {
            strategy::custom("none", [](const auto&, const auto&) { return std::vector<ensemble_candidate>{}; })};
      },
      "the strategies propose no candidates");
}

TEST_CASE("[ADA-22.6 error table] a builder or a candidate that is not proposed again is named") {
  refused_search x;
  x.s.search.max_iterations = 2;
  x.training.max_steps = 3;
  REQUIRE(train(x.s, x.training));
  x.training.max_steps = 4;
  x.s.search.subnetwork_generator = generators::list({dense_builder("other")});
  x.is_refused(errc::failed_precondition,
               "iteration 0 has trained the builder 'dense', which the generator no longer returns: it returns other");
  x.s.search.subnetwork_generator = generators::list({dense_builder("dense")});
  x.s.search.ensemble_strategies = {strategy::solo()};
  x.is_refused(errc::failed_precondition,
               "the candidate 'dense_grow' of iteration 0 with the same members: a strategy is not deterministic");
}

TEST_CASE(
    "[ADA-22.6 error table] a metric that is not there, numbers that are not finite, and last layers that differ") {
  refused_search x;
  x.s.search.evaluator = search_evaluator{.input = small_dataset(8).batch(4), .metric_name = "auc"};
  x.is_refused(errc::key_missing, "'auc'");
  x.s.search.evaluator.reset();
  x.s.search.subnetwork_generator = generators::list(
      {{.name = "nan", .build = [](graph& g, const build_context& c) -> subnetwork {
          const auto h = nn::dense(c.features["x"], {.units = 3});
          return {.last_layer = h,
                  .logits = h * g.constant(tensor::scalar(std::numeric_limits<float>::quiet_NaN())),
                  .complexity = 1};
        }}});
  x.is_refused(errc::nan_loss, "t0_nan");
  refused_search y;
  y.s.search.subnetwork_generator = generators::list({dense_builder("narrow", 2), dense_builder("wide", 4)});
  y.s.search.ensemble_strategies = {strategy::all()};
  y.s.search.ensemblers = {mean_ensembler{.add_mean_last_layer_predictions = true}};
  y.is_refused(errc::invalid_argument,
               "last layers of one shape: those of t0_narrow are [0, 2], those of t0_wide are [0, 4]");
  refused_search z;
  z.s.search.debug = true;
  z.training.input = small_dataset()
                         .map("spoil",
                              [](const example_tensors& in) -> expected<example_tensors> {
                                auto spoilt = in;
                                const std::vector<float> infinite(8, std::numeric_limits<float>::infinity());
                                spoilt.features.insert_or_assign("x", tensor::of<float>({8}, infinite));
                                return spoilt;
                              })
                         .batch(4)
                         .repeat();
  z.is_refused(errc::invalid_argument, "'x' of the data");
}

TEST_CASE("data that never end are refused where candidates are compared or reports are made, before any training") {
  refused_search x;
  const auto says = [](const std::string& what) { return what + " never ends (tensors -> batch(4) -> repeat)"; };
  x.s.search.evaluator = search_evaluator{.input = rows()};
  x.is_refused(errc::invalid_argument, says("evaluator.input"));
  x.s.search.evaluator->steps = 2;
  x.s.search.report_materializer = report_materializer{.input = rows()};
  x.is_refused(errc::invalid_argument, says("report_materializer.input"));
  x.s.search.report_materializer->steps = 2;
  CHECK(train(x.s, x.training));
}

TEST_CASE("[ADA-22.6 error table] matrix weights of a last layer of rank 4 are not implemented") {
  refused_search x;
  x.s.search.ensemblers = {complexity_regularized_ensembler{.mixture_weight_type = mixture_weight::matrix}};
  x.s.search.subnetwork_generator = generators::list(
      {{.name = "deep", .build = [](graph&, const build_context& c) -> subnetwork {
          const auto h = nn::dense(c.features["x"], {.units = 4});
          return {
              .last_layer = reshape(h, {h.dims()[0], 2, 2, 1}), .logits = nn::dense(h, {.units = 3}), .complexity = 1};
        }}});
  x.is_refused(errc::unimplemented, "a rank of at most 3");
}

TEST_CASE("[ADA-22.6 error table] the winner of a search cannot be trained by itself") {
  refused_search x;
  REQUIRE(train(x.s, x.training));
  const auto winner = winner_of(x.s);
  REQUIRE_MESSAGE(winner, why(winner));
  auto elsewhere = *winner;
  const temporary_directory other;
  elsewhere.config.model_dir = other.path;
  const auto trained = train(elsewhere, {.input = rows(), .max_steps = 1});
  REQUIRE_FALSE(trained);
  CHECK(trained.error().category == errc::failed_precondition);
  CHECK(has(why(trained), "is trained by its search alone"));
}

}  // namespace troupe::test
