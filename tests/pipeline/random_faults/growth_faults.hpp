// Random faults of a job that grows (support/growing_job.hpp): each seed draws one trouble between the last steps of an iteration and the second commit
// of the next. Whatever it is, the job, or processes that go on with it, end in the bits of one that nothing disturbs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::test::random_faults {

enum class growth_trouble : uint8_t {
  process,   ///< The process is killed at that turn.
  dies,      ///< A node, an agent or the preparer.
  throws,
  hangs,     ///< For good.
  disk,      ///< Every file call from that one on fails; then the process is killed.
  outage,    ///< One file call of a checkpoint is `unavailable`.
  planner,   ///< The planner throws.
  damage,    ///< The process is killed, and the newest commits are damaged.
};

struct growth_recipe {
  uint64_t seed = 0;
  growth_trouble what = growth_trouble::process;
  std::string node = {};       ///< Of dies, throws, hangs.
  int64_t turns = 0;           ///< After state `from` is reached; of the disk: file calls.
  int64_t from = 18;
  int64_t damaged = 0;         ///< Commits.
  int64_t replicas = 1;
  bool evaluates = false;
  int64_t attempts = 3;        ///< The budget of attempts in a row.
};
growth_recipe draw_growth(uint64_t seed);
std::string to_text(const growth_recipe& r);

/// What such a job comes to where nothing disturbs it: known from then on, whatever is planted later.
void learn_undisturbed_growth(const growth_recipe& r);

/// What is wrong; nothing: the story went well.
std::vector<std::string> findings_of(const growth_recipe& r);

}  // namespace troupe::test::random_faults
