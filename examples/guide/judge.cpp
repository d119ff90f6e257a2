// Two evaluations, a metric of one's own, an end by rule, the best checkpoint kept: `judge [DIRECTORY]`.
#include <troupe/troupe.hpp>

#include <cmath>
#include <iostream>

namespace tr = troupe;

// metric begins
/// How far probabilities are from frequencies, in ten bins: Σ over bins |Σ probability - Σ label| / examples.
/// Naeini et al. 2015.
tr::metric calibration_error(tr::symbol labels, tr::symbol probabilities) {
  const auto bin = tr::cast(tr::clip(tr::floor(probabilities * 10), 0, 9), tr::dtype::int64);
  const auto gap = tr::cast(probabilities, tr::dtype::float64) - tr::cast(labels, tr::dtype::float64);
  const auto one = tr::cast(tr::equal(bin, bin), tr::dtype::float64);  // For each example.
  const auto result = [](std::span<const tr::tensor> totals) -> tr::metric_value {
    double gaps = 0;
    for (const double bins_gap : totals[0].as<double>())
      gaps += std::abs(bins_gap);
    const double examples = totals[1].as<double>()[0];
    return examples > 0 ? gaps / examples : 0;
  };
  return {{tr::scatter_add(bin, gap, 10), tr::reduce_sum(one)}, result};
}
// metric ends

// model begins
/// Predicts whether an event happens. The probability of the event is x.
tr::model_spec chance(tr::graph& g, const tr::features& x, const tr::labels& y, tr::mode mode) {
  const auto hidden = tr::nn::dense(x["x"], {.units = 8, .activation = tr::relu});
  const auto logits = tr::nn::dense(hidden, {.units = 1, .name = "logits"});
  auto spec = tr::binary_head{}.spec(
      g, {.mode = mode, .logits = logits, .labels = y, .optimizer = tr::adam{.rate = 0.02f}});
  if (mode == tr::mode::evaluate)
    spec.metrics = {{"accuracy", spec.metrics.at("accuracy")},  // Of the head's ten only this one.
                    {"calibration_error", calibration_error(y.only(), tr::squeeze(tr::sigmoid(logits), {1}))}};
  return spec;
}
// model ends

/// Prints each evaluation.
struct tell_evaluations : tr::hook {
  void on_event(const tr::job_event& e, tr::job_control&) override {
    if (e.what == tr::job_event::kind::evaluated)
      std::cout << to_text(e) << "\n";
  }
};

int main(int argc, char** argv) {
  const tr::element_spec spec{.features = {{.name = "x", .dims = {1}}},
                              .labels = {{.name = "happens", .type = tr::dtype::int32}}};
  const auto events = tr::dataset::from_generator(spec, 4000, [](int64_t i) {
    const double x = std::fmod(static_cast<double>(i) * 0.6180339887, 1);
    const double drawn = std::fmod(static_cast<double>(i) * 0.4142135624, 1);
    return tr::example_tensors{{{"x", tr::tensor::of<float>({1}, {static_cast<float>(x)})}},
                               {{"happens", tr::tensor::scalar<int32_t>(drawn < x ? 1 : 0)}}};
  });
  if (!events)
    return tr::print_error(events.error());

  const tr::estimator estimator{
      {"chance", chance}, {.model_dir = argc > 1 ? argv[1] : "runs/judge", .seed = 1, .save_checkpoints_steps = 100}};
  // job begins
  const auto known = events->skip(1000), unknown = events->take(1000);
  const tr::train_spec training{
      .input = known.shuffle().batch(50).repeat(),
      .max_steps = 5000,
      .hooks = {std::make_shared<tell_evaluations>()},
      .stop_early = {tr::stop_if_no_decrease("calibration_error", 200, {.evaluation = "unknown"})},
      .keep_best = tr::keep_best{.goal = {.evaluation = "unknown", .metric = "calibration_error"},
                                 .restore_best = true}};
  const auto result = tr::train_and_evaluate(
      estimator, training,
      {{.input = unknown.batch(500), .name = "unknown", .throttle_secs = 0},
       {.input = known.take(1000).batch(500), .name = "known", .throttle_secs = 0}});
  if (!result)
    return tr::print_error(result.error());
  std::cout << result->remark << "\nthe best is " << result->best_checkpoint << "\n";
  // job ends
  return 0;
}
