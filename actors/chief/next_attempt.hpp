// What leads to the next attempt of a job: recovery from a failure, or growth from one plan into the next. Plain data.
#pragma once

#include "actors/chief/growth.hpp"
#include "actors/chief/recovery.hpp"

namespace troupe {

struct next_attempt {
  troupe::recovery recovery = troupe::recovery{};
  troupe::growth growth = {};
};

}  // namespace troupe
