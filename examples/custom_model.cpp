// A model of one's own: a function from a graph to a loss, with metrics, and with what it wants recorded for
// TensorBoard.
#include "examples/orders.hpp"

#include <troupe/metrics.hpp>
#include <troupe/troupe.hpp>

namespace tr = troupe;

/// Two layers on the orders' numbers side by side; late or not is a class of two.
tr::model_spec late_payments(tr::graph& g, const tr::features& order, const tr::labels& late, tr::mode mode) {
  const auto column = [&](const char* name) { return tr::expand_dims(order[name], 1); };
  auto hidden = tr::nn::dense(tr::concat({column("amount"), column("hour"), column("visits")}),
                              {.units = 16, .activation = tr::relu});
  auto logits = tr::nn::dense(hidden, {.units = 2});
  g.scalar("hidden/mean", tr::reduce_mean(hidden));
  g.histogram("logits", logits);
  // README begins
  auto spec = tr::multi_class_head{.classes = 2}.spec(
      g, {.mode = mode, .logits = logits, .labels = late, .optimizer = tr::adam{.rate = 0.01f}});
  if (mode != tr::mode::predict) {  // There are labels.
    const auto answer = tr::argmax(logits);
    spec.metrics["f1"] = tr::metrics::f1(late.only(), answer);
    spec.metrics["confusion"] = tr::metrics::confusion_matrix(late.only(), answer, 2);  // An array: a table.
  }
  return spec;
  // README ends
}

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : "runs/custom";
  const auto orders = recent_orders();

  tr::estimator estimator{{"late_payments", late_payments},
                          {.model_dir = directory, .seed = 1, .save_summary_steps = 50}};
  return tr::print_result(
      tr::train_and_evaluate(estimator, {.input = orders.skip(128).shuffle().batch(32).repeat(), .max_steps = 400},
                             {.input = orders.take(128).batch(64)}));
}
