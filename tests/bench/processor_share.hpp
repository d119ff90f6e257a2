// The part of a core that this process uses, with all of its threads.
#pragma once

#include "tests/bench/bench.hpp"

namespace troupe::bench {

inline double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// While it does nothing else than `idle`.
template <class Idle>
double share_of_core(Idle idle) {
  const double cpu = processor_seconds(), began = now(clock_kind::wall);
  idle();
  return (processor_seconds() - cpu) / (now(clock_kind::wall) - began);
}

}  // namespace troupe::bench
