// The table of exporter's fields (options/option_field.hpp).
// Not needed to begin with.
#pragma once

#include <troupe/exporter.hpp>
#include <troupe/options/metric_goal_fields.hpp>

namespace troupe {

template <>
struct option_choices<export_rule> {
  static constexpr std::pair<std::string_view, export_rule> all[] = {
      {"latest", export_rule::latest}, {"best", export_rule::best}, {"final", export_rule::final}};
};

template <>
struct option_fields<exporter> {
  static constexpr std::tuple all{
      option_field{"name", &exporter::name, "of its directory below export/"},
      option_field{"rule", &exporter::rule,
                   "after every evaluation, after one that is better than all before, or after the last"},
      option_field{"exports_to_keep", &exporter::exports_to_keep, "the newest so many; none: all",
                   field_range::at_least(1)},
      option_part{&exporter::goal, "evaluation"}};
};

}  // namespace troupe
