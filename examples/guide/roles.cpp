// One program for every process of a cluster: TF_CONFIG says which one this is. `roles DIRECTORY`.
#include <troupe/troupe.hpp>

#include <cmath>
#include <iostream>

namespace tr = troupe;

/// Gives up when ten minutes have brought no checkpoint.
struct impatient : tr::evaluation_listener {
  bool after(tr::evaluation_outcome what, const tr::evaluation_result* result) override {
    if (result)
      std::cout << "step " << result->global_step << " is evaluated\n";
    return what != tr::evaluation_outcome::missing;
  }
};

int main(int argc, char** argv) {
  const tr::element_spec spec{.features = {{.name = "x", .dims = {1}}},
                              .labels = {{.name = "above", .type = tr::dtype::int32}}};
  const auto points = tr::dataset::from_generator(spec, 1000, [](int64_t i) {
    const auto x = static_cast<float>(std::fmod(static_cast<double>(i) * 0.6180339887, 1));
    return tr::example_tensors{{{"x", tr::tensor::of<float>({1}, {x})}},
                               {{"above", tr::tensor::scalar<int32_t>(x > 0.5f ? 1 : 0)}}};
  });
  if (!points)
    return tr::print_error(points.error());
  const tr::train_spec training{.input = points->batch(20).repeat(), .max_steps = 200};
  const tr::eval_spec evaluation{
      .input = points->batch(500), .throttle_secs = 0, .listener = std::make_shared<impatient>()};
  const tr::estimator alone{tr::linear_classifier({.classes = 2}),
                            {.model_dir = argc > 1 ? argv[1] : "runs/roles", .seed = 1, .save_checkpoints_steps = 100}};
  // README begins
  const auto here = tr::cluster_of_process();
  const auto estimator = here.and_then([&](const tr::cluster& c) { return tr::with_cluster(alone, c); });
  if (!estimator)
    return tr::print_error(estimator.error());
  const auto result = tr::train_and_evaluate(*estimator, training, evaluation);
  // README ends
  if (!result)
    return tr::print_error(result.error());
  std::cout << "ended at step " << result->global_step << "\n";
}
