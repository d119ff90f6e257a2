// A plan to change, and what is said against it.
#pragma once

#include "plan/checked_plan.hpp"
#include "support/plans.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

inline hand_written good() { return two_candidates(small_dataset().batch(4).repeat()); }

/// The error for `p`, which must be invalid.
inline std::string refusal(const job_plan& p) {
  const auto checked = checked_plan::of(p);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().category == errc::invalid_argument);
  return checked.error().message;
}

inline bool says(const job_plan& p, std::initializer_list<std::string_view> words) {
  const auto text = refusal(p);
  INFO(text);
  for (const auto word : words)
    if (text.find(word) == std::string::npos)
      return false;
  return true;
}

inline plan_node& named(job_plan& p, const std::string& name) {
  return *std::find_if(p.nodes.begin(), p.nodes.end(), [&](const plan_node& n) { return n.name == name; });
}

}  // namespace troupe::test
