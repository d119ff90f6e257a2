// troupe search: starts a search over ensembles of networks.
#include "cli/commands/training_job.hpp"

namespace troupe::cli {

int search(const command_line& line, const std::shared_ptr<console_printer>& console, signal_watch& signals) {
  return run_training(
      line, console, signals,
      {.purpose = job_purpose::searching,
       .name = "search",
       .start = [](const job_setup& setup, const train_spec& training, const eval_specs& evaluations) -> expected<job> {
         const auto made = make_searcher(setup);
         if (!made)
           return fail(made.error());
         return start(*made, training, evaluations);
       },
       // There is no graph: that of the winner is not known before the end.
       .with_classes = [](const job_setup& setup) { return linear_model({.head = setup.search->options.head}); }});
}

}  // namespace troupe::cli
