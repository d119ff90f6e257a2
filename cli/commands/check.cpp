// troupe check: plans what `troupe train` would run in this process, and shows it.
#include "cli/commands/commands.hpp"
#include "cli/configuration/cluster_setup.hpp"
#include "cli/terminal/output.hpp"

#include <troupe/inspect.hpp>

namespace troupe::cli {

int check(const command_line& line, const std::shared_ptr<console_printer>& console, signal_watch& signals) {
  end_at_first(signals, console, "before the check ended");
  const auto here = cluster_of(line);
  if (!here)
    return failure(*console, here.error(), misuse_if(here.error().category != errc::unavailable));
  const auto given = load_settings(line, *here);
  if (!given)
    return failure(*console, given.error(), misuse_if(is_misuse(given.error())));
  auto setup = make_job_setup(*given, job_purpose::training);
  if (!setup)
    return usage_failure(*console, setup.error());
  const auto task = join(*setup, *here);
  if (!task)
    return usage_failure(*console, task.error());
  const auto data = open_data(*setup, *task);
  if (!data)
    return failure(*console, with_origin(data.error(), line));
  const auto found = inspect_process(setup->estimator, data->training, data->evaluations);
  if (!found)
    return failure(*console, found.error(), misuse_if(found.error().category == errc::invalid_argument));
  line.json ? write_output(to_json(*found)) : write_text(to_text(*found));
  return succeeded;
}

}  // namespace troupe::cli
