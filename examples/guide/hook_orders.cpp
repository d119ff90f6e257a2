// The hooks of docs/guide/hooks.md beside a small job.
#include "examples/guide/order_hooks.hpp"
#include "examples/orders.hpp"

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : "runs/hooks";
  const auto orders = recent_orders();
  const tr::estimator estimator{{"late_orders", late_orders},
                                {.model_dir = directory, .seed = 1, .save_checkpoints_steps = 150}};
  // train begins
  const auto result = tr::train_and_evaluate(
      estimator,
      {.input = orders.skip(128).shuffle().batch(32).repeat(),
       .max_steps = 900,
       .hooks = {std::make_shared<print_values>(), std::make_shared<cool_down>(),
                 std::make_shared<stop_at_target>(0.97), std::make_shared<print_events>()},
       .saving_listeners = {std::make_shared<name_saves>()}},
      {.input = orders.take(128).batch(64), .throttle_secs = 0});
  // train ends
  return result ? 0 : tr::print_error(result.error());
}
