// A job whose outcome no order of turns changes, as a seed draws it: what it writes, evaluates, shows and returns
// follows from its settings.
#pragma once

#include "support/small_job.hpp"

namespace troupe::test::golden_facts {

/// A node that dies at the first turn after progress to `step`.
struct death {
  int64_t step = 0;
  std::string node;
};

struct fact_job {
  uint64_t seed = 0;
  int32_t hosts = 1;
  int64_t replicas = 1;
  std::optional<int64_t> shards = {};
  int64_t max_steps = 20;
  std::optional<int64_t> batches = {};    ///< Batches of the data, over all hosts; none: repeated without end.
  std::optional<int64_t> breaks_at = {};  ///< The number of a batch of each host that cannot be read.
  std::optional<int64_t> save_steps = {};
  int64_t keep_max = 0;  ///< 0: all.
  int64_t summary_steps = 0;
  int64_t log_steps = 5;
  bool measures = false;  ///< Metrics of training.

  bool evaluates = false;         ///< The job has an evaluation for which training waits.
  bool evaluates_beside = false;  ///< The job has an evaluation for which training does not wait.
  std::optional<int64_t> eval_steps = {}, eval_every = {};
  bool exports = false;
  bool keeps_best = false;
  std::optional<int64_t> patience = {};  ///< Stops after so many steps without a smaller loss.

  int64_t gate_every = 0, watch_every = 0;  ///< 0: no hook wants them.
  bool observes = false, sees_last = false;
  std::optional<int64_t> saves_at = {}, scales_at = {}, stops_at = {};  ///< Under a gate.
  std::optional<int64_t> stops_on_saved_from = {};                      ///< On a held fact.
  std::optional<int64_t> listener_stops_from = {};                      ///< INT64_MAX: it listens, and does not stop.

  bool groups = false;                     ///< Two candidates and a mixture.
  std::optional<int64_t> retires_at = {};  ///< The first candidate.
  bool leaves = false;                     ///< The second candidate has numbers that are not finite, and leaves.

  std::vector<death> deaths = {};
};

fact_job draw_fact_job(uint64_t seed);
/// With deaths after which the job recovers.
fact_job draw_mortal_job(uint64_t seed);

/// Facts by subject, a line each, of a job that goes by one schedule. One that is stopped is run again to its end.
std::map<std::string, std::string> facts_of(const fact_job& job, uint64_t schedule);

}  // namespace troupe::test::golden_facts
