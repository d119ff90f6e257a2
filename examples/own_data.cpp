// Data that a function makes and another one changes: learned, predicted, and looked at afterwards.
#include <troupe/inspect.hpp>
#include <troupe/troupe.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numbers>

namespace tr = troupe;

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : "runs/own_data";

  // README begins
  const tr::element_spec spec{.features = {{.name = "angle"}}, .labels = {{.name = "height"}}};  // Each one float32.
  const auto points = tr::dataset::from_generator(spec, 1000, [](int64_t i) {
    const auto angle = static_cast<float>(i) * 0.001f;
    const auto height = std::sin(angle * 2 * std::numbers::pi_v<float>);
    return tr::example_tensors{{{"angle", tr::tensor::scalar(angle)}}, {{"height", tr::tensor::scalar(height)}}};
  });
  if (!points)
    return tr::print_error(points.error());
  const auto input = points->map("centred", [](tr::example_tensors point) {
    point.features["angle"] = tr::tensor::scalar(point.features["angle"].as<float>()[0] * 2 - 1);
    return point;
  });

  const tr::estimator estimator{tr::dnn_regressor({.hidden_units = {32, 32}, .optimizer = tr::adam{.rate = 0.01f}}),
                                {.model_dir = directory, .seed = 1, .save_summary_steps = 100}};
  if (auto result = tr::train(estimator, {.input = input.shuffle().batch(50).repeat(), .max_steps = 1000}); !result)
    return tr::print_error(result.error());

  auto predictions = tr::predict(estimator, {.input = input.batch(100)});
  if (!predictions)
    return tr::print_error(predictions.error());
  float highest = -1;
  for (const auto& one : *predictions)
    highest = std::max(highest, one.values.at("predictions").as<float>()[0]);
  if (auto status = predictions->status(); !status)  // The range also ends at an error.
    return tr::print_error(status.error());
  std::cout << "the highest point is " << highest << "\n";
  // README ends

  const auto losses = tr::event_points(directory, "loss");
  const auto variables = tr::load_variables(directory);
  if (!losses || !variables)
    return tr::print_error(losses ? variables.error() : losses.error());
  for (const auto& point : losses->points)
    std::cout << "loss at step " << point.step << ": " << point.value->scalar << "\n";
  std::cout << "dnn/logits/kernel is " << tr::to_text(variables->at("dnn/logits/kernel").dims()) << "\n";
  return 0;
}
