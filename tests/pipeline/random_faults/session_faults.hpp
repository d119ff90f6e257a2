// Random faults of sessions: processes one after another on one disk, each of which opens a session, makes runs and
// saves as a caller would, and is disturbed meanwhile. A last one is not, and must end in the bits of an undisturbed
// job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe::test::random_faults {

enum class session_trouble : uint8_t {
  kill,        ///< A node crashes.
  throws,      ///< A handler of a node throws.
  hangs,       ///< A node hangs for ever.
  disk_fault,  ///< One file call fails as `unavailable`.
  disk_death,  ///< Every file call fails from now on.
  power_loss,  ///< The same, and what was not synced is lost.
  stop,        ///< Another thread asks the session to stop.
  preempted,   ///< Work beside the runs fails with `aborted`.
  broken,      ///< Work beside the runs fails with `not_found`.
  suspended,   ///< The process stands still for an hour.
};

/// After `messages` more messages than at the trouble before it.
struct session_happening {
  session_trouble what = session_trouble::kill;
  int64_t messages = 0;
  std::string node = {};
};

struct session_process {
  uint64_t schedule = 1;
  uint64_t caller = 1;  ///< What the caller does is drawn from this.
  std::vector<session_happening> troubles = {};
  bool closes = true;  ///< Otherwise the handle goes away unclosed.
};

struct session_recipe {
  uint64_t seed = 0;
  int32_t hosts = 1;
  int64_t replicas = 1;
  int64_t max_steps = 30;
  std::optional<int64_t> save_steps = 5;
  int64_t attempts = 0;   ///< Recoveries in a row that are allowed.
  int64_t run_hooks = 0;  ///< How many; the second one fetches the loss.
  bool watches = false;   ///< A hook sees every state.
  std::vector<session_process> disturbed = {};
};
session_recipe draw_session(uint64_t seed);
std::string to_text(const session_recipe& r);

/// What went wrong in the story; empty if nothing did.
std::vector<std::string> findings_of(const session_recipe& r);

/// What all stories have shown, so that no kind of them is left out unseen.
struct session_tally {
  int64_t runs = 0, saves = 0, recoveries = 0, steps_taken_back = 0, failures = 0, processes = 0, readings = 0;
};
const session_tally& sessions_seen();

}  // namespace troupe::test::random_faults
