// How the next attempt of a job comes about: a failure is cured, or one plan grows into the next. Plain data.
#pragma once

#include "actors/chief/growth.hpp"
#include "actors/chief/recovery.hpp"

namespace troupe {

struct next_attempt {
  troupe::recovery recovery = troupe::recovery{};
  troupe::growth growth = {};
};

}  // namespace troupe
