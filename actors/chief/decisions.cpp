#include "actors/chief/decisions.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace troupe {

int64_t next_multiple(int64_t after, std::optional<int64_t> every) {
  int64_t next = 0;
  return every && *every > 0 && !__builtin_mul_overflow(after / *every + 1, *every, &next) ? next : INT64_MAX;
}

int64_t horizon_ahead(int64_t block_steps, double seconds_per_step) {
  constexpr double ahead_seconds = 0.2;
  const int64_t blocks = 2 * std::max<int64_t>(block_steps, 1);
  if (seconds_per_step <= 0)
    return blocks;
  return std::max(blocks, static_cast<int64_t>(std::min(ahead_seconds / seconds_per_step, 1e15)));
}

job_event joined(int64_t since, const job_event& older, job_event newer) {
  const auto before = static_cast<double>(older.step - since), after = static_cast<double>(newer.step - older.step);
  if (before > 0 && after > 0)
    newer.loss = (before * older.loss + after * newer.loss) / (before + after);
  return newer;
}

std::string data_ended_text(int64_t step, std::optional<int64_t> goal) {
  return "the data ended at step " + std::to_string(step)
         + (goal ? ", before max_steps " + std::to_string(*goal) : std::string{});
}

expected<void> check_origin(std::optional<checkpoint_id> planned_from, const restored& x) {
  if (!planned_from || (x.found && x.id.iteration == planned_from->iteration))
    return {};
  return fail(errc::failed_precondition,
              "the job was planned from the checkpoint of step " + to_string(*planned_from) + ", and "
                  + (x.found ? x.prefix + " is the newest that is whole now" : "no checkpoint is there any more")
                  + ": another process has changed the directory meanwhile; start the job again");
}

expected<std::map<std::string, std::string>> positions_for(const std::string& prefix,
                                                           const std::map<std::string, std::string>& saved,
                                                           const std::vector<const plan_node*>& infeeds) {
  std::map<std::string, std::string> all;
  std::set<std::string> shared;  // The different positions of data that infeeds share.
  int64_t found = 0;
  for (const auto& [key, position] : saved)
    if (key.starts_with(position_prefix)) {
      shared.insert(position);
      ++found;
    }
  const auto hosts = std::count_if(infeeds.begin(), infeeds.end(), [](const plan_node* n) { return !n->own; });
  std::string missing;
  for (const auto* n : infeeds) {
    const auto key = position_key(*n);
    const auto own = saved.find(key);
    if (own != saved.end() && (n->own || found == hosts))
      all[key] = own->second;
    else if (n->own)
      return fail(errc::failed_precondition,
                  prefix + " has no position of the data of " + n->own->who + " (" + key
                      + "): it had no train_input when this was saved; take train_input away, or train into another "
                        "directory");
    else if (shared.size() == 1)
      all[key] = *shared.begin();
    else
      missing = missing.empty() && own == saved.end() ? key : missing;
  }
  if (std::ssize(all) == std::ssize(infeeds))
    return all;
  return fail(errc::failed_precondition,
              prefix + " has the data positions of " + std::to_string(found) + (found == 1 ? " infeed" : " infeeds")
                  + ", the job has " + std::to_string(hosts) + (missing.empty() ? "" : " (" + missing + " is missing)")
                  + ", and these data are not read in any order: they would begin anew or be read twice; go on with "
                    "as many hosts as before and the same input_mode, or train into another directory");
}

bool evaluation_due(std::optional<double> seconds_since_last, double throttle_secs, bool at_the_end) {
  return at_the_end || !seconds_since_last || *seconds_since_last >= throttle_secs;
}

}  // namespace troupe
