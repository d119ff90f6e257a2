// The books of an attempt: what the chief knows that the next attempt does not need. Each attempt begins with fresh
// ones.
#pragma once

#include "actors/chief/ending.hpp"
#include "actors/chief/shown_state.hpp"
#include "actors/chief/told_values.hpp"
#include "actors/chief/verdicts.hpp"

namespace troupe {

struct attempt_books {
  int32_t attempt = 1;
  troupe::horizon horizon = troupe::horizon{};
  troupe::saves saves = {};
  troupe::ending ending = {};
  shown_state showing = {};
  troupe::verdicts verdicts = {};
  told_values told_of_groups = {};
};

}  // namespace troupe
