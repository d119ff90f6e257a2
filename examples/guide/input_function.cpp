// Two inputs, each of which reads a part of the data that its input function describes.
#include "examples/orders.hpp"

#include <troupe/input_function.hpp>
#include <troupe/troupe.hpp>

#include <iostream>

namespace tr = troupe;

int main() {
  const auto orders = recent_orders();
  // README begins
  const auto input = tr::from_input_function({.batch_size = 64, .name = "orders"}, [=](const tr::input_context& c) {
    const auto& [host, index, total, replicas] = c.deployment;
    std::cout << "input " << index << " of " << total << ": batches of " << c.batch_size << "\n";
    return orders.shard(total, index).shuffle().batch(c.batch_size).repeat();
  });
  const auto model = tr::dnn_classifier({.hidden_units = {16, 8}, .classes = 2});
  const tr::run_config run{.seed = 1, .replicas = 2, .input_mode = tr::input_mode::per_core};
  return tr::print_result(tr::train({model, run}, {.input = input, .max_steps = 100}));
  // README ends
}
