// One model, two heads: whether an order is paid late, and how much of the hour it came in. Orders count by their
// amount.
#include "examples/orders.hpp"

#include <troupe/troupe.hpp>

#include <iostream>

namespace tr = troupe;

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : "runs/two_heads";
  const auto orders = recent_orders().map(
      "both labels",
      [](tr::example_tensors order) {
        order.labels["share"] = order.features.at("visits");
        return order;
      },
      tr::element_spec{.features = {{.name = "amount"}, {.name = "hour"}, {.name = "visits"}},
                       .labels = {{.name = "late", .type = tr::dtype::int32}, {.name = "share"}}});

  // README begins
  const tr::multi_head both{.heads = {{.name = "late",
                                       .head = tr::binary_head{.thresholds = {0.3, 0.7},
                                                               .vocabulary = {"in time", "late"},
                                                               .weight_feature = "amount"}},
                                      {.name = "share", .head = tr::regression_head{}, .weight = 0.5}}};
  const auto model = tr::dnn_linear_combined_model({.hidden_units = {16, 8},
                                                    .head = both,
                                                    .optimizer = tr::adagrad{.rate = 0.05f},
                                                    .linear_rule = tr::ftrl{.rate = 0.2f}});
  // README ends

  tr::estimator estimator{model, {.model_dir = directory, .seed = 1}};
  auto result = tr::train_and_evaluate(estimator,
                                       {.input = orders.skip(128).shuffle().batch(32).repeat(), .max_steps = 400},
                                       {.input = orders.take(128).batch(64)});
  if (!result)
    return tr::print_error(result.error());
  for (const char* name : {"late/auc", "late/precision/positive_threshold_0.7", "share/average_loss", "loss/late"})
    std::cout << name << " " << result->metrics.at(name) << "\n";

  auto predictions = tr::predict(estimator, {.input = orders.skip(3).batch(64), .keys = {"late/classes"}});
  if (!predictions)
    return tr::print_error(predictions.error());
  const auto first = predictions->next();
  if (!first)
    return tr::print_error(first.error());
  std::cout << "the fourth order is paid " << (*first)->texts.at("late/classes").front() << "\n";
}
