// Running a recipe: one disk, one process after the other on it, and what was seen of each.
#pragma once

#include "pipeline/launch/launch_simulated.hpp"
#include "pipeline/random_faults/watching_hook.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/files/memory_file_system.hpp"

namespace troupe::test::random_faults {

/// A trouble that came: not every one does, since a job may end before.
struct happening {
  trouble what;
  int64_t turn = 0;
  std::chrono::nanoseconds at{};
};

/// What one process left to be judged.
struct observation {
  run_recipe run;
  int64_t stood_at = -1;                       ///< The newest checkpoint's step before; -1: none.
  std::optional<expected<train_result>> result;
  bool power_lost = false;
  bool stuck = false;                          ///< Nothing was left to happen, and there was no result.
  bool endless = false;                        ///< More turns or virtual time than any job needs.
  std::vector<happening> happened;
  std::vector<job_event> events;
  std::vector<watching_hook::call> calls;      ///< Of the hook.
  std::vector<need> needs;
  std::vector<std::string> left;
  world_gauge gauge;
  int64_t turns = 0, ended_turn = 0;           ///< Altogether, and when the job's last event came.
  std::chrono::nanoseconds ended{};
  std::chrono::nanoseconds taken{};            ///< By reads and hooks after the last trouble.
  uint64_t trace_hash = 0;
  std::optional<checkpoint_content> newest;    ///< After it, if there is a whole checkpoint.
  std::vector<std::string> unlisted;           ///< Files of checkpoints that the state file does not name.
  std::vector<int64_t> curve;                  ///< Steps of the loss in the event files, as a reader shows them.
};

/// All runs of a recipe, the last one undisturbed unless the job had finished before.
struct story {
  recipe of;
  std::vector<observation> disturbed;
  std::optional<observation> undisturbed;
};
story play(const recipe& r);

/// What a process left on the disk.
void look_at(const std::shared_ptr<file_system>& disk, observation& o);

/// The state in which a job of these settings ends that is never disturbed. Kept, since many recipes share it.
const checkpoint_content& reference_of(const recipe& r);

}  // namespace troupe::test::random_faults
