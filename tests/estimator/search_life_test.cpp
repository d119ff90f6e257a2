// The life of a search (train, evaluate, predict, export) under each of its options, on the table of XOR.
#include "estimator/small_start.hpp"

#include <troupe/exported_model.hpp>
#include <troupe/inspect.hpp>
#include <troupe/metrics.hpp>
#include <troupe/predict.hpp>
#include <troupe/search/auto_ensemble.hpp>
#include <troupe/search/generators.hpp>
#include <troupe/search/searcher.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <set>

namespace troupe::test {

namespace {

constexpr int64_t ticks = 20;

/// One batch of the four rows; with the labels exchanged if `contradictory`.
dataset xor_table(bool contradictory = false) {
  const float one = contradictory ? 0.f : 1.f;
  return dataset::from_tensors({{"x", tensor::of<float>({4, 2}, {1, 0, 0, 0, 0, 1, 1, 1})}},
                               {{"y", tensor::of<float>({4, 1}, {one, 1 - one, one, 1 - one})}})
      ->batch(4);
}

/// Two layers of `width` units, whose logits begin around `offset`.
builder network(const std::string& name, int64_t width, double offset = 0) {
  return {.name = name,
          .build = [=](graph& g, const build_context& c) -> subnetwork {
            const auto h = nn::dense(c.features["x"], {.units = width, .activation = relu});
            const auto logits = nn::dense(h, {.units = 1}) + g.constant(tensor::scalar(static_cast<float>(offset)));
            return {.last_layer = h, .logits = logits, .complexity = 1};
          },
          .optimizer = adam{.rate = 0.02f},
          .report = [width](graph&, const subnetwork&, const build_context&) -> builder_report {
            return {.hparams = {{"width", width}}};
          }};
}

/// Answers XOR, or its contrary.
builder frozen(const std::string& name, bool right) {
  return {.name = name, .build = [right](graph& g, const build_context& c) -> subnetwork {
            const auto a = slice(c.features["x"], 1, 0, 1), b = slice(c.features["x"], 1, 1, 1);
            const auto differ = abs(a - b), one = g.constant(tensor::scalar(1.f));
            const auto logits = right ? differ + g.constant(tensor::scalar(0.f)) : one - differ;
            return {.last_layer = logits, .logits = logits, .complexity = 0};
          }};
}

struct counted_hook : hook {
  counted_hook(int* calls, int64_t stops_at) : calls_(calls), stops_at_(stops_at) {}
  needs begin(int64_t) override { return {.steps = {{.first = stops_at_, .gate = true}}}; }
  void on_step(const step_facts&, job_control& job) override {
    ++*calls_;
    job.stop();
  }

 private:
  int* calls_;
  int64_t stops_at_;
};
hook_maker counted(int& calls, int64_t stops_at) {
  return [&calls, stops_at] {
    return std::vector<std::shared_ptr<hook>>{std::make_shared<counted_hook>(&calls, stops_at)};
  };
}

/// A search of three iterations of 20 ticks, and what its whole life leads to.
struct life {
  search_options o{.head = regression_head{},
                   .subnetwork_generator = generators::list({network("dnn", 3)}),
                   .max_iteration_steps = ticks,
                   .ensemblers = {complexity_regularized_ensembler{.optimizer = adam{.rate = 0.02f}}},
                   .max_iterations = 3};
  std::vector<std::shared_ptr<hook>> hooks = {};
  train_result trained = {};
  std::vector<std::string> last_candidates = {};  ///< Of the open iteration.
  tensor predicted = {};
  double loss = 0;  ///< Of the evaluation.
  std::set<std::string> signatures = {};

  complexity_regularized_ensembler& weights() { return std::get<complexity_regularized_ensembler>(o.ensemblers[0]); }

  /// Trains, and asks the winner the same in three ways.
  void live(int64_t global_step = 3 * ticks) {
    const temporary_directory at;
    const searcher s{o, small_estimator(at.path).config};
    const auto done = train(s, {.input = xor_table().repeat(), .hooks = hooks});
    REQUIRE_MESSAGE(done, why(done));
    trained = *done;
    CHECK(trained.global_step == global_step);
    REQUIRE(trained.search);
    CHECK(trained.search->iteration == 2);
    const auto seen = inspect_directory(at.path);
    REQUIRE_MESSAGE(seen, why(seen));
    REQUIRE(seen->search);
    for (const auto& candidate : seen->search->candidates)
      last_candidates.push_back(candidate.spec);
    const auto winner = winner_of(s);
    REQUIRE_MESSAGE(winner, why(winner));
    CHECK(winner->model.name == trained.search->spec);
    const auto measured = evaluate(*winner, {.input = xor_table().repeat(), .steps = 10});
    REQUIRE_MESSAGE(measured, why(measured));
    loss = measured->metrics.at("loss");
    CHECK(std::isfinite(loss));
    CHECK(measured->batches == 10);
    CHECK(measured->global_step == global_step);
    CHECK(measured->metrics.at("global_step") == static_cast<double>(global_step));
    predicted = predicted_by(*winner);
    const auto path = export_model(*winner, {.input = xor_table()});
    REQUIRE_MESSAGE(path, why(path));
    const auto opened = exported_model::open(*path);
    REQUIRE_MESSAGE(opened, why(opened));
    for (const auto& [name, signature] : opened->signatures())
      signatures.insert(name);
    auto caller = opened->caller();
    REQUIRE_MESSAGE(caller, why(caller));
    const auto called = caller->call({{"x", tensor::of<float>({4, 2}, {1, 0, 0, 0, 0, 1, 1, 1})}});
    REQUIRE_MESSAGE(called, why(called));
    CHECK(called->at("predictions") == predicted);
    // The mean of the squared errors over the table is the loss of the evaluation.
    double sum = 0;
    for (size_t i = 0; i < 4; ++i)
      sum += std::pow(static_cast<double>(predicted.as<float>()[i]) - (i % 2 == 0 ? 1 : 0), 2);
    CHECK(measured->metrics.at("average_loss") == doctest::Approx(sum / 4).epsilon(1e-5));
  }

  static tensor predicted_by(const estimator& winner) {
    auto stream = predict(winner, {.input = xor_table(), .single_examples = false});
    REQUIRE_MESSAGE(stream, why(stream));
    const auto all = stream->next();
    REQUIRE_MESSAGE(all, why(all));
    REQUIRE(*all);
    return (*all)->values.at("predictions");
  }
  size_t members() const { return trained.search->winner.members.size(); }
};

/// Builders whose logits are so far apart that the mean prediction of their ensembles is in their order, the previous
/// ensemble in the middle.
generator in_order() {
  return [](const generator_input& in) {
    const double apart = 100 * static_cast<double>(in.iteration + 1);
    return std::vector{network("low", 2, -apart), network("high", 2, apart)};
  };
}

search_evaluator by_mean(objective goal) {
  return {.input = xor_table(), .metric_name = "mean_prediction", .objective = goal, .steps = 1};
}
std::map<std::string, metric> mean_prediction(graph&, const metric_context& c) {
  return {{"mean_prediction", metrics::mean(c.predictions.at("predictions"))}};
}

}  // namespace

TEST_CASE("[ADA-22.1 variants] a search trains, evaluates, predicts and exports with weights of each form and a bias") {
  for (const auto type : {mixture_weight::scalar, mixture_weight::vector, mixture_weight::matrix})
    for (const bool bias : {false, true}) {
      CAPTURE(static_cast<int>(type));
      CAPTURE(bias);
      life l;
      l.weights().mixture_weight_type = type;
      l.weights().use_bias = bias;
      l.live();
    }
}

TEST_CASE("[ADA-22.1 variants] hooks of subnetworks stop these alone, after their own steps, in each iteration") {
  int calls = 0;
  life l;
  auto stops = network("stops", 3);
  stops.hooks = counted(calls, 10);
  l.o.subnetwork_generator = generators::list({stops, network("goes_on", 3)});
  l.live(3 * (10 + ticks) / 2);
  CHECK(calls == 3);
}

TEST_CASE("[ADA-22.1 variants] hooks of mixture weights stop these alone, in each iteration and candidate") {
  int calls = 0;
  life l;
  l.weights().hooks = counted(calls, 10);
  l.o.subnetwork_generator = generators::list({network("a", 3), network("b", 4)});
  l.live();
  CHECK(calls == 6);
}

TEST_CASE("[ADA-22.1 variants] hooks of the user may keep what they like, and end once") {
  struct keeping_hook : hook {
    std::vector<double> losses = {};
    int ended = 0;
    needs begin(int64_t) override { return {.steps = {{.first = 1, .every = 1}}}; }
    void on_step(const step_facts& facts, job_control&) override {
      for (const auto& [name, value] : facts.values)
        if (name.ends_with("/loss") && value.elements() == 1)
          losses.push_back(static_cast<double>(value.as<float>()[0]));
    }
    void end(int64_t) override { ++ended; }
  };
  life l;
  const auto keeps = std::make_shared<keeping_hook>();
  l.hooks = {keeps};
  l.live();
  CHECK(keeps->ended == 1);
  CHECK(keeps->losses.size() == ticks * (2 + 3 + 3));  // The previous ensemble has one, too.
}

TEST_CASE("[ADA-22.1 variants] members of the previous ensemble may be built to train while candidates train") {
  life l;
  l.o.replicate_ensemble_in_training = true;
  l.live();
}

TEST_CASE("[ADA-22.1 variants] builders of two widths compete in each iteration") {
  life l;
  l.o.subnetwork_generator = generators::list({network("narrow", 1), network("wide", 8)});
  l.live();
}

TEST_CASE("[ADA-22.1 variants] an evaluator chooses on the data of training, and on data that contradict them") {
  for (const bool contradictory : {false, true}) {
    CAPTURE(contradictory);
    life l;
    l.o.subnetwork_generator = generators::list({frozen("right", true), frozen("wrong", false)});
    l.o.ensemblers = {mean_ensembler{}};
    l.o.evaluator = search_evaluator{.input = xor_table(contradictory), .steps = 1};
    l.live();
    CHECK(l.trained.search->replay_indices.front() == (contradictory ? 1 : 0));
  }
}

TEST_CASE("[ADA-22.1 variants] an evaluator that always prefers the last candidate, and one the second to last") {
  for (const auto goal : {objective::maximize, objective::minimize}) {
    life l;
    l.o.subnetwork_generator = in_order();
    l.o.ensemblers = {mean_ensembler{}};
    l.o.metric_fn = mean_prediction;
    l.o.evaluator = by_mean(goal);
    l.live();
    const auto& winner = l.trained.search->winner;
    // The previous ensemble is the first of three candidates in iteration 1.
    CHECK(l.trained.search->replay_indices
          == (goal == objective::maximize ? std::vector<int64_t>{1, 2, 2} : std::vector<int64_t>{0, 1, 1}));
    REQUIRE(winner.members.size() == 3);
    for (const auto& m : winner.members)
      CHECK(m.builder == (goal == objective::maximize ? "high" : "low"));
  }
}

TEST_CASE("[ADA-22.1 variants] with a materializer each generator hears what was reported before it") {
  life l;
  std::vector<size_t> heard(3);
  l.o.subnetwork_generator = [&heard](const generator_input& in) {
    heard[static_cast<size_t>(in.iteration)] = in.reports.all.size();
    return std::vector{network("dnn", 3)};
  };
  l.o.report_materializer = report_materializer{.input = xor_table(), .steps = 1};
  l.live();
  CHECK(heard == std::vector<size_t>{0, 1, 3});  // From iteration 1 on, the previous ensemble has a report, too.
}

TEST_CASE("[ADA-22.1 variants] the strategies all and solo, and all three at once, lead to ensembles of their sizes") {
  const auto two = generators::list({network("a", 3), network("b", 4)});
  life all;
  all.o.subnetwork_generator = two;
  all.o.ensemble_strategies = {strategy::all()};
  all.o.force_grow = true;
  all.live();
  CHECK(all.members() == 6);
  life solo;
  solo.o.subnetwork_generator = two;
  solo.o.ensemble_strategies = {strategy::solo()};
  solo.live();
  CHECK(solo.members() == 1);
  life each;
  each.o.subnetwork_generator = two;
  each.o.ensemble_strategies = {strategy::all(), strategy::grow(), strategy::solo()};
  each.live();
  CHECK(each.members() >= 1);
  CHECK(each.members() <= 6);
  const std::string ensembler = "_complexity_regularized";
  std::vector<std::string> wanted{each.last_candidates.front()};  // The previous ensemble.
  for (const std::string candidate : {"all", "a_grow", "b_grow", "a_solo", "b_solo"})
    wanted.push_back("t2_" + candidate + ensembler);
  CHECK(each.last_candidates == wanted);
}

TEST_CASE("[ADA-22.1 variants] two ensemblers, one of them with a bias, make an ensemble of each candidate") {
  life l;
  l.o.ensemblers = {
      complexity_regularized_ensembler{.optimizer = adam{.rate = 0.02f}, .name = "plain"},
      complexity_regularized_ensembler{.optimizer = adam{.rate = 0.02f}, .use_bias = true, .name = "with_bias"}};
  l.live();
  REQUIRE(l.last_candidates.size() == 3);
  CHECK(l.last_candidates[1] == "t2_dnn_grow_plain");
  CHECK(l.last_candidates[2] == "t2_dnn_grow_with_bias");
  CHECK(l.members() >= 1);
}

TEST_CASE(
    "[ADA-22.11 details] the initial values of a pretrained member are there to train, evaluate, predict and export") {
  const model answers{"answers", [](graph& g, const features& all, const labels&, mode) -> model_spec {
                        const auto x = all["x"], w = g.variable({.name = "w", .initial = init::constant(3)});
                        return {.predictions = {{"predictions", w * abs(slice(x, 1, 0, 1) - slice(x, 1, 1, 1))}}};
                      }};
  life l;
  l.o.subnetwork_generator = generators::auto_ensemble(
      {.pool = model_list{{.model = answers, .name = "pretrained", .prediction_only = true}}});
  l.o.ensemblers = {mean_ensembler{}};
  l.o.force_grow = true;
  l.live();
  CHECK(l.members() == 3);
  CHECK(l.predicted == tensor::of<float>({4, 1}, {3, 0, 3, 0}));
  CHECK(l.loss == 2);  // Two rows of four miss by 2.
  CHECK(l.trained.metrics.at("t2_pretrained/loss") == 2);
}

TEST_CASE("[ADA-22.1 variants] exports have the outputs of subnetworks exactly if they are wanted") {
  for (const bool wanted : {false, true}) {
    life l;
    l.o.export_subnetwork_logits = l.o.export_subnetwork_last_layer = wanted;
    l.live();
    CHECK(l.signatures.contains("subnetwork_logits") == wanted);
    CHECK(l.signatures.contains("subnetwork_last_layer") == wanted);
  }
}

}  // namespace troupe::test
