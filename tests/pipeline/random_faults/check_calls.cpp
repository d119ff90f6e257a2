// Checks the host calls of a story: for which steps they were made, and with what.
#include "pipeline/random_faults/checks.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace troupe::test::random_faults {

namespace {

/// Whether a call is due in the step that leads to state `step`. Loops are counted from the first step of the job.
bool is_due(const recipe& r, int64_t step) { return r.loop == 0 || ((step - 1) % r.loop) % r.calls_every == 0; }

int64_t next_due(const recipe& r, int64_t after) {
  do
    ++after;
  while (!is_due(r, after));
  return after;
}

/// The x of all rows of the steps: in each, the hosts' batches one after the other.
const std::vector<std::vector<float>>& rows_of_steps(const recipe& r) {
  const bool one_for_all = r.input_mode == input_mode::sliced;
  const int64_t turns = r.input_mode == input_mode::per_replica ? r.replicas / r.hosts : 1;
  static std::map<std::tuple<int32_t, int64_t, bool, int64_t>, std::vector<std::vector<float>>> known;
  auto& steps = known[{r.hosts, r.batches.value_or(-1), one_for_all, turns}];
  if (std::ssize(steps) >= r.max_steps)
    return steps;
  steps.assign(static_cast<size_t>(r.max_steps), {});
  const auto data = data_of(r);
  const int32_t inputs = one_for_all ? 1 : r.hosts;
  for (int32_t host = 0; host < inputs; ++host) {
    auto rows = data.last_stage()->iterate({.seed = 7, .drop_remainder = true, .host = host, .hosts = inputs});
    if (!rows)
      throw std::runtime_error(to_text(rows.error()));
    const auto batch_rows = static_cast<size_t>((*rows)->batch_rows());
    std::vector<float> x(batch_rows * 8);
    std::vector<int32_t> y(batch_rows);
    std::byte* const into[] = {reinterpret_cast<std::byte*>(x.data()), reinterpret_cast<std::byte*>(y.data())};
    for (auto& step : steps) {
      for (int64_t turn = 0; turn < turns && (*rows)->read(into, {}); ++turn)
        step.insert(step.end(), x.begin(), x.end());
    }
  }
  return steps;
}

}  // namespace

void check_calls(const recipe& r, const observation& o, std::vector<finding>& to) {
  if (r.calls_every == 0)
    return;
  const auto fault = [&to](const std::string& text) { to.push_back({"host calls in order", text}); };
  std::set<int64_t> begun_at{std::max<int64_t>(o.stood_at, 0), 0};  // Without a whole checkpoint, at the beginning.
  for (const auto& e : o.events)
    if (e.what == job_event::kind::recovered || e.what == job_event::kind::started)
      begun_at.insert(e.step);
  int64_t before = -1;
  for (const auto& call : o.given) {
    const bool begins = std::any_of(begun_at.begin(), begun_at.end(),
                                    [&](int64_t from) { return next_due(r, from) == call.step; });
    if ((before < 0 || next_due(r, before) != call.step) && !begins)
      fault("a call of step " + std::to_string(call.step) + " after that of step " + std::to_string(before));
    before = call.step;
    const auto& rows = rows_of_steps(r);
    if (call.step > std::ssize(rows) || call.x != rows[static_cast<size_t>(call.step) - 1])
      to.push_back({"host calls get their rows", "the call of step " + std::to_string(call.step) + " got others"});
  }
}

void check_all_calls(const story& s, std::vector<finding>& to) {
  if (s.of.calls_every == 0 || !s.of.keeps)
    return;
  std::set<int64_t> made;
  for (const auto& o : s.disturbed) {
    // A last save is made without an outfeed, and nobody makes the calls of the steps up to it.
    if (killed(o, "outfeed"))
      return;
    for (const auto& call : o.given)
      made.insert(call.step);
    const int64_t saved = o.newest ? o.newest->id.step : 0;
    for (int64_t step = next_due(s.of, 0); step <= saved; step = next_due(s.of, step))
      if (!made.contains(step))
        return to.push_back({"no host call is left out", "state " + std::to_string(saved)
                                                             + " was saved, and the call of step "
                                                             + std::to_string(step) + " was not made"});
  }
}

}  // namespace troupe::test::random_faults
