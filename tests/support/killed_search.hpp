// A search whose process is killed, and the next one in its directory.
#pragma once

#include "tests/support/ended_jobs.hpp"
#include "tests/support/small_search.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

/// Plays a search until it ends or `turns` have passed, then another process to the end, which must leave the state
/// `as`. Returns whether the first one had ended.
inline bool ends_alike(const small_search& s, int64_t turns, const checkpoint_content& as) {
  bool over = false;
  {
    simulated_job job{prepare_search(s), 2};
    for (int64_t i = 0; i < turns && !over; ++i)
      over = !job.crank() || job.ended();
  }
  CAPTURE(turns);
  simulated_job next{prepare_search(s), 3};
  run_to_end(next);
  CHECK(same_state(newest_checkpoint(s.o.files).content, as));
  return over;
}

/// Kills the searches that `make` returns at every `apart`-th turn, up to their end. Returns at how many.
template <class Make>
int64_t places_killed(Make make, int64_t apart, const checkpoint_content& as) {
  int64_t places = 0;
  while (!ends_alike(make(), apart * places, as))
    ++places;
  return places;
}

}  // namespace troupe::test
