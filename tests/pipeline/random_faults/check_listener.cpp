// Checks the calls of the saving listener against the events of the job.
#include "pipeline/random_faults/checks.hpp"
#include "support/small_job.hpp"

#include <algorithm>
#include <set>

namespace troupe::test::random_faults {

void check_listener(const recipe& r, const observation& o, std::vector<finding>& to) {
  using place = watching_listener::place;
  if (!r.listens)
    return;
  const auto fault = [&](const std::string& text) {
    to.push_back({"a listener hears of each save, before and after it", text});
  };
  std::vector<int64_t> heard;
  std::set<int64_t> saving;
  const bool ended_well = o.result && *o.result;
  for (size_t i = 0; i < o.listened.size(); ++i) {
    const auto& c = o.listened[i];
    const auto step = std::to_string(c.step);
    if ((i == 0) != (c.where == place::begin))
      fault("call " + std::to_string(i) + " is " + (c.where == place::begin ? "begin" : "not begin") + ", of step "
            + step);
    // A job that fails does not wait for the books.
    if (c.where == place::after && !saving.contains(c.step) && ended_well)
      fault("after the save of step " + step + ", before which it was not called");
    if (c.where == place::end && i + 1 != o.listened.size())
      fault("the end is not the last call");
    if (c.where == place::before)
      saving.insert(c.step);
    if (c.where == place::after)
      heard.push_back(c.step);
  }
  if (!ended_well)
    return;
  for (const int64_t step : steps_of(o.events, job_event::kind::saved))
    if (std::count(heard.begin(), heard.end(), step) == 0)
      fault("step " + std::to_string(step) + " was told to be saved, and not to the listener");
  if (!o.listened.empty() && o.listened.back().where != place::end)
    fault("a job that ended well did not call its end");
  if (o.listener_stopped_at && (*o.result)->global_step != *o.listener_stopped_at)
    to.push_back({"a listener ends the job at exactly the saved state",
                  "it stopped at step " + std::to_string(*o.listener_stopped_at) + ", and the job ended at step "
                      + std::to_string((*o.result)->global_step)});
}

}  // namespace troupe::test::random_faults
