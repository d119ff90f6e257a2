// A service that answers requests, one a line, and trains beside it: `status`, `save`, `quit`.
#include "examples/orders.hpp"

#include <troupe/spdlog.hpp>
#include <troupe/troupe.hpp>

#include <spdlog/sinks/stdout_sinks.h>

#include <iostream>

namespace tr = troupe;

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : "runs/service";
  const auto orders = recent_orders();
  const auto log = spdlog::stdout_logger_mt("training");

  // README begins
  auto model = tr::dnn_classifier({.hidden_units = {16, 8}, .classes = 2});
  auto job = tr::start({model, {.model_dir = directory}}, {.input = orders.shuffle().batch(32).repeat()}, {},
                       {.log = tr::log_to(log)});
  if (!job)
    return tr::print_error(job.error());

  for (std::string request; std::getline(std::cin, request) && request != "quit";) {  // The service's own loop.
    if (request == "save")
      job->save();  // Nobody waits for it; training goes on.
    const auto now = job->progress();
    std::cout << "at step " + std::to_string(now.step) + ", saved up to " + std::to_string(now.committed_step) + "\n"
              << std::flush;
  }

  job->stop();  // Saves, and ends there: the next start goes on from it.
  return tr::print_result(job->wait(std::chrono::seconds{30}));
  // README ends
}
