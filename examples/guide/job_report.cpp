// What bounds a job: a small network, and data that take long to read.
#include "examples/orders.hpp"

#include <troupe/troupe.hpp>

#include <iostream>
#include <thread>

namespace tr = troupe;

int main() {
  const auto slow = recent_orders().map("slow", [](const tr::example_tensors& order) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    return order;
  });
  const auto model = tr::dnn_classifier({.hidden_units = {16, 8}, .classes = 2});
  auto job = tr::start({model, {}}, {.input = slow.batch(32).repeat()});
  if (!job)
    return tr::print_error(job.error());

  // README begins
  const auto before = job->report();
  std::this_thread::sleep_for(std::chrono::seconds{1});  // The program's own work.
  const auto now = job->report();
  if (before && now)
    std::cout << tr::bound_by(tr::since(*now, *before)) << "\n";
  // README ends
}
