// Random faults of a job that grows (support/growing_job.hpp) and of a search (support/small_search.hpp). Each seed
// draws one trouble between the last steps of an iteration and the second commit of the next. The job, or the processes
// that resume it, must end in the bits of an undisturbed job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::test::random_faults {

enum class growth_trouble : uint8_t {
  process,  ///< The process is killed after `turns` turns.
  dies,     ///< A node, an agent or the preparer dies.
  throws,
  hangs,    ///< A node hangs for ever.
  disk,     ///< After `turns` file calls every call fails; then the process is killed.
  outage,   ///< One file call of a checkpoint fails as `unavailable`.
  planner,  ///< The planner, or the generator of a search, throws an exception.
  damage,   ///< The process is killed, and the newest commits are damaged.
};

struct growth_recipe {
  uint64_t seed = 0;
  growth_trouble what = growth_trouble::process;
  std::string node = {};  ///< For `dies`, `throws` and `hangs`.
  int64_t turns = 0;      ///< Turns after state `from`; for `disk` and `outage`, file calls.
  int64_t from = 18;
  int64_t damaged = 0;  ///< How many commits are damaged.
  int64_t replicas = 1;
  bool reducers = false;  ///< They reduce by messages.
  bool evaluates = false;
  int64_t attempts = 3;   ///< How many attempts in a row are allowed.
  bool searches = false;  ///< The job is a search.
  bool demands = false;   ///< The search evaluates between iterations, for the choice and for reports.
};
growth_recipe draw_growth(uint64_t seed);
growth_recipe draw_search(uint64_t seed);
std::string to_text(const growth_recipe& r);

/// Computes and caches the end state of the undisturbed job, so that faults planted later do not change it.
void learn_undisturbed_growth(const growth_recipe& r);

/// What went wrong in the story; empty if nothing did.
std::vector<std::string> findings_of(const growth_recipe& r);

}  // namespace troupe::test::random_faults
