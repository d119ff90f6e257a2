// One program for every process of an experiment. `experiment [SCHEDULE [DIRECTORY]]`; without a schedule it is that of
// the task which TF_CONFIG names.
#include <troupe/experiment.hpp>
#include <troupe/troupe.hpp>

#include <cmath>
#include <cstdio>

namespace tr = troupe;

namespace {

/// Points between 0 and 1, and whether each is above a half.
tr::expected<tr::dataset> points() {
  const tr::element_spec spec{.features = {{.name = "x", .dims = {1}}},
                              .labels = {{.name = "above", .type = tr::dtype::int32}}};
  return tr::dataset::from_generator(spec, 1000, [](int64_t i) {
    const auto x = static_cast<float>(std::fmod(static_cast<double>(i) * 0.6180339887, 1));
    return tr::example_tensors{{{"x", tr::tensor::of<float>({1}, {x})}},
                               {{"above", tr::tensor::scalar<int32_t>(x > 0.5f ? 1 : 0)}}};
  });
}

/// Shows each evaluation when it has ended.
struct shown : tr::hook {
  void on_event(const tr::job_event& e, tr::job_control&) override {
    if (e.what == tr::job_event::kind::finished)
      std::printf("step %.0f: accuracy %.2f\n", e.metrics.at("global_step"), e.metrics.at("accuracy"));
  }
};

}  // namespace

int main(int argc, char** argv) {
  const auto data = points();
  if (!data)
    return tr::print_error(data.error());
  const std::string directory = argc > 2 ? argv[2] : "runs/experiment";
  // README begins
  const tr::estimator alone{tr::linear_classifier({.classes = 2}),
                            {.model_dir = directory, .seed = 1, .save_checkpoints_steps = 100}};
  const auto here = tr::cluster_of_process();
  const auto joined = here.and_then([&](const tr::cluster& c) { return tr::with_cluster(alone, c); });
  if (!joined)
    return tr::print_error(joined.error());
  tr::experiment halves{.estimator = *joined,
                        .train_data = data->take(800).shuffle().batch(20).repeat(),
                        .eval_data = data->skip(800).batch(50),
                        .train_steps = 300,
                        .eval_hooks = {std::make_shared<shown>()},
                        .eval_delay_secs = 0,
                        .continuous_eval_throttle_secs = 0,
                        .check_interval_secs = 0,
                        .exporters = {tr::latest_exporter()}};
  const auto which = argc > 1 ? tr::parse_schedule(argv[1]) : tr::default_schedule(*here);
  const auto result = which.and_then([&](tr::schedule s) { return tr::run_experiment(halves, s); });
  // README ends
  if (!result)
    return tr::print_error(result.error());
  std::printf("%s ended at step %lld, with %zu exports\n", std::string{tr::to_string(*which)}.c_str(),
              static_cast<long long>(result->global_step), result->exports.size());
}
