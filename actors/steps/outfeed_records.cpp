// What a step writes to the event file: losses, rates, the speed, metrics, and the summaries of the model.
#include "actors/steps/outfeed.hpp"
#include "compute/engine/metric_summaries.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <stdexcept>

namespace troupe {

metric_results outfeed_state::take_metrics() {
  metric_results all;
  for (size_t g = 0; g < groups.size(); ++g) {
    auto results = groups[g].take_metrics(step);
    if (!results)
      throw std::runtime_error{to_text(results.error())};
    for (const auto& [name, value] : results->numbers)
      all.numbers[options.groups[g].prefixed(name)] = value;
    for (const auto& [name, array] : results->arrays)
      all.arrays[options.groups[g].prefixed(name)] = array;
  }
  return all;
}

double outfeed_state::rate_factor() {
  while (rates.size() > 1 && std::next(rates.begin())->first < step)
    rates.erase(rates.begin());
  return rates.empty() ? 1 : rates.begin()->second;
}

void outfeed_state::record_group(size_t group, bool is_lead, record& into) {
  const auto sets = groups[group].take_recorded(step);
  if (!writer)
    return;
  const auto& of = options.groups[group];
  const auto by_default = [&](const std::string& tag, const std::string& prefixed, double value) {
    // A summary of the model with the same tag replaces this value: a curve has one value for each step.
    const auto& own = of.summaries.all;
    if (std::none_of(own.begin(), own.end(), [&](const summary_recipe& o) { return o.tag == tag; }))
      into.values.push_back({.tag = prefixed, .scalar = value});
  };
  // The loss of that step alone, as in the Estimator: a mean since the last record would depend on where a job was
  // resumed.
  by_default("loss", of.prefixed("loss"), *groups[group].last_loss());
  if (of.summaries.by)
    by_default("learning_rate", of.prefixed("learning_rate"),
               learning_rate(*of.summaries.by, step - of.summaries.first_step) * rate_factor());
  if (is_lead) {  // The speed belongs to the job, so one group records it.
    const std::string tag = "global_step/sec";
    const auto now = self->clock().now();
    if (options.log_every > 0 && last_record && now > last_record->second)
      by_default(tag, tag,
                 static_cast<double>(step - last_record->first)
                     / std::chrono::duration<double>(now - last_record->second).count());
    last_record.emplace(step, now);
  }
  for (auto& value : summarise(of.summaries.all, sets, !texts_sent)) {
    value.tag = of.prefixed(value.tag);
    into.values.push_back(std::move(value));
  }
}

void outfeed_state::send_record(bool recorded, const metric_results& metrics) {
  record r{attempt, records, step, {}};
  const auto* const first = lead();
  for (size_t g = 0; recorded && g < groups.size(); ++g)
    if (!groups[g].has_left())
      record_group(g, &groups[g] == first, r);
  texts_sent = texts_sent || recorded;
  if (!writer)
    return;
  for (auto& value : summaries_of(metrics.numbers, metrics.arrays))
    if (std::none_of(r.values.begin(), r.values.end(), [&](const summary_value& own) { return own.tag == value.tag; }))
      r.values.push_back(std::move(value));
  ++records;
  self->send(writer, std::move(r));
}

}  // namespace troupe
