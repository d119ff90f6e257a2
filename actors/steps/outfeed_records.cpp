// What a step writes to the event file: losses, rates, the speed, metrics, and the summaries of the model.
#include "actors/steps/outfeed.hpp"
#include "compute/engine/metric_summaries.hpp"
#include "words/ended_by_error.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

std::vector<metric_results> outfeed_state::take_metrics() {
  std::vector<metric_results> all;
  for (auto& g : groups) {
    auto results = g.take_metrics(step);
    if (!results)
      throw ended_by_error{std::move(results.error())};
    all.push_back(std::move(*results));
  }
  return all;
}

metric_results outfeed_state::joined(const std::vector<metric_results>& of_groups) const {
  metric_results all;
  for (size_t g = 0; g < of_groups.size(); ++g) {
    for (const auto& [name, value] : of_groups[g].numbers)
      all.numbers[options.groups[g].prefixed(name)] = value;
    for (const auto& [name, array] : of_groups[g].arrays)
      all.arrays[options.groups[g].prefixed(name)] = array;
  }
  return all;
}

void outfeed_state::forget_rates() {
  while (rates.size() > 1 && std::next(rates.begin())->first < step)
    rates.erase(rates.begin());
}

double outfeed_state::rate_factor() {
  forget_rates();
  return rates.empty() ? 1 : rates.begin()->second;
}

/// By tags without the name of the group.
std::vector<summary_value> outfeed_state::take_summaries(size_t group) {
  const auto sets = groups[group].take_recorded(step);
  const auto& of = options.groups[group];
  std::vector<summary_value> values;
  const auto by_default = [&](const std::string& tag, double value) {
    // A summary of the model with the same tag replaces this value: a curve has one value for each step.
    const auto& own = of.summaries.all;
    if (!tag.empty() && std::none_of(own.begin(), own.end(), [&](const summary_recipe& o) { return o.tag == tag; }))
      values.push_back({.tag = tag, .scalar = value});
  };
  // The loss of that step alone, as in the Estimator: a mean since the last record would depend on where a job was
  // resumed.
  by_default("loss", *groups[group].last_loss());
  if (of.summaries.by)
    by_default("learning_rate", learning_rate(*of.summaries.by, step - of.summaries.first_step) * rate_factor());
  by_default(of.where.own_steps_tag,
             static_cast<double>(std::min(step, of.retires_at.value_or(step)) - of.summaries.first_step));
  for (auto& value : summarise(of.summaries.all, sets, !texts_sent))
    values.push_back(std::move(value));
  return values;
}

void outfeed_state::record_group(size_t group, std::vector<summary_value> values, record& into) const {
  const auto& of = options.groups[group];
  if (!of.where.written || values.empty())
    return;
  if (!of.where.directory.empty()) {
    into.elsewhere.push_back({of.where.directory, std::move(values)});
    return;
  }
  for (auto& value : values) {
    value.tag = of.prefixed(value.tag);
    into.values.push_back(std::move(value));
  }
}

void outfeed_state::record_speed(record& into) {
  const auto now = self->clock().now();
  if (options.log_every > 0 && last_record && now > last_record->second) {
    const double rate = static_cast<double>(step - last_record->first)
                        / std::chrono::duration<double>(now - last_record->second).count();
    into.values.push_back({.tag = "global_step/sec", .scalar = rate});
    const auto has_examples = std::any_of(into.values.begin(), into.values.end(),
                                          [](const summary_value& own) { return own.tag == "examples/sec"; });
    if (options.rows > 0 && !has_examples)
      into.values.push_back({.tag = "examples/sec", .scalar = rate * static_cast<double>(options.rows)});
  }
  last_record.emplace(step, now);
}

std::optional<std::string> outfeed_state::shown_group() const {
  if (!options.leader)
    return std::nullopt;
  std::set<std::string> left;
  for (size_t g = 0; g < groups.size(); ++g)
    if (groups[g].has_left())
      left.insert(options.groups[g].name);
  return options.leader(told_before.empty() ? std::map<std::string, double>{} : told_before.rbegin()->second, left);
}

void outfeed_state::send_record(bool recorded, const std::vector<metric_results>& metrics,
                                std::vector<std::vector<summary_value>> called) {
  if (!writer) {
    for (size_t g = 0; recorded && g < groups.size(); ++g)
      if (!groups[g].has_left())
        groups[g].take_recorded(step);
    return;
  }
  record r{attempt, records, step, {}};
  const auto shown = recorded ? shown_group() : std::nullopt;
  const auto has = [](const std::vector<summary_value>& values, const std::string& tag) {
    return std::any_of(values.begin(), values.end(), [&](const summary_value& own) { return own.tag == tag; });
  };
  for (size_t g = 0; g < groups.size(); ++g) {
    auto values = recorded && !groups[g].has_left() ? take_summaries(g) : std::vector<summary_value>{};
    if (shown == options.groups[g].name)
      for (const auto& value : values)
        if (value.tag == "loss")
          r.values.push_back(value);
    for (auto& value : summaries_of(metrics[g].numbers, metrics[g].arrays))
      if (!has(values, value.tag))
        values.push_back(std::move(value));
    if (!called.empty())
      std::move(called[g].begin(), called[g].end(), std::back_inserter(values));
    record_group(g, std::move(values), r);
  }
  if (recorded) {
    for (const auto& [tag, value] : options.constants)
      r.values.push_back({.tag = tag, .scalar = value});
    if (!has(r.values, "global_step/sec"))
      record_speed(r);
    texts_sent = true;
  }
  ++records;
  self->send(writer, std::move(r));
}

}  // namespace troupe
