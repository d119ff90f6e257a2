// Random faults of a chief and an evaluator in two processes over one model directory. Each is started again when it
// has died or failed, as by a process manager, until both have ended well.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe::test::random_faults {

enum class process_trouble : uint8_t {
  process,     ///< A process is killed.
  kill,        ///< A node crashes.
  throws,      ///< A handler of a node throws.
  hangs,       ///< A node hangs until its process has ended.
  disk_fault,  ///< One file call of a process fails as `unavailable`.
  disk_death,  ///< Every file call of a process fails until it is started again.
  power_loss,  ///< Both processes are killed, and what was not synced is lost.
  exporter,    ///< The exporter fails once.
  suspended,   ///< Both processes stand still for an hour.
};

/// After `turns` more turns of the world than at the trouble before it.
struct process_happening {
  process_trouble what = process_trouble::process;
  int64_t turns = 0;
  bool of_chief = true;  ///< Otherwise of the evaluator's process.
  std::string node = {};
};

struct process_recipe {
  uint64_t seed = 0;
  int64_t max_steps = 20, save_steps = 5;
  int64_t attempts = 0;   ///< Of the chief: recoveries in a row that are allowed.
  int64_t step_ms = 500;  ///< What a message to a replica takes.
  double throttle_secs = 0;
  bool ends_by_rule = false;  ///< A rule of the evaluator ends the job from state 10 on.
  bool keeps_best = false;
  bool smaller_is_better = true;
  bool exports = true;  ///< The evaluator has an exporter.
  int64_t keeps = 3;    ///< keep_checkpoint_max of the chief.
  bool asks = false;    ///< The rule is a predicate.
  std::vector<process_happening> troubles = {};
};
process_recipe draw_processes(uint64_t seed);
std::string to_text(const process_recipe& r);

/// What went wrong in the story; empty if nothing did.
std::vector<std::string> findings_of(const process_recipe& r);

/// What all stories have shown, so that no kind of them is left out unseen.
struct process_tally {
  int64_t chiefs = 0, evaluators = 0, evaluations = 0, exports = 0, happened = 0, ended_by_rule = 0;
};
const process_tally& processes_seen();

}  // namespace troupe::test::random_faults
