// Properties of checkpoints that evaluations and hooks lead to, beside those of the job.
#pragma once

#include <string_view>

namespace troupe {

/// At which a job has ended by a rule: why, "early: ...", and the rule as text.
inline constexpr std::string_view ended_property = "ended", ended_by_property = "ended_by";
/// The best checkpoint so far, "1200"; its value; whether it is used in place of the newest, "true" or "false".
inline constexpr std::string_view best_property = "best", best_value_property = "best_value", use_best_property = "use_best";
/// What learning rates are multiplied by from this state on, where that is not 1.
inline constexpr std::string_view rate_factor_property = "rate_factor";

}  // namespace troupe
