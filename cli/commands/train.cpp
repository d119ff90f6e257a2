// troupe train: starts the training of a model.
#include "cli/commands/training_job.hpp"

namespace troupe::cli {

int train(const command_line& line, const std::shared_ptr<console_printer>& console, signal_watch& signals) {
  return run_training(
      line, console, signals,
      {.purpose = job_purpose::training,
       .name = "training",
       .start = [](const job_setup& setup, const train_spec& training,
                   const eval_specs& evaluations) { return start(setup.estimator, training, evaluations); },
       .graph =
           [](const job_setup& setup, const dataset& input) {
             return inspect_graph(setup.estimator, input, mode::train, graph_depth::graph_only);
           },
       .with_classes = [](const job_setup& setup) { return setup.estimator.model; }});
}

}  // namespace troupe::cli
