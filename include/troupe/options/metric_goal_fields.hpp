// The table of metric_goal's fields (options/option_field.hpp), which other tables include.
// Not needed to begin with.
#pragma once

#include <troupe/metric_goal.hpp>
#include <troupe/options/option_field.hpp>

namespace troupe {

template <>
struct option_fields<metric_goal> {
  static constexpr std::tuple all{
      option_field{"evaluation", &metric_goal::evaluation, "the name of the [[evaluate]] whose results count"},
      option_field{"metric", &metric_goal::metric, "the metric that decides"},
      option_field{"smaller_is_better", &metric_goal::smaller_is_better, "whether smaller values of it are better"}};
};

}  // namespace troupe
