// Plays a recipe: processes one after another on one disk, each of which is observed.
#pragma once

#include "pipeline/launch/simulated_launcher.hpp"
#include "pipeline/random_faults/described_job.hpp"
#include "pipeline/random_faults/state_watch.hpp"
#include "pipeline/random_faults/watching_hook.hpp"
#include "pipeline/random_faults/watching_listener.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/exports/export_directory.hpp"
#include "storage/files/memory_file_system.hpp"

#include <troupe/exporter.hpp>

namespace troupe::test::random_faults {

/// A trouble that happened, and when. Not every trouble of a recipe happens, since a job may end before.
struct happening {
  trouble what;
  int64_t turn = 0;
  std::chrono::nanoseconds at{};
};

/// An exported model on the disk.
struct export_sight {
  std::string exporter, path;
  std::string trouble;     ///< Why it cannot be read; empty: it is complete.
  export_content content;  ///< What it holds, if it is complete.
};

/// What one process did, for the checks.
struct observation {
  run_recipe run;
  int64_t stood_at = -1;  ///< The step of the newest checkpoint at its start; -1: none.
  std::optional<expected<train_result>> result;
  bool power_lost = false;
  bool stuck = false;    ///< No event was left, and the job had no result.
  bool endless = false;  ///< The job took more turns or virtual time than any job here needs.
  std::vector<happening> happened;
  std::vector<job_event> events;
  std::vector<watching_hook::call> calls;  ///< Calls of the hook.
  std::vector<given_call> given;           ///< To the host call of the model.
  std::vector<need> needs;
  std::optional<int64_t> stopped_on;              ///< The state of the held fact at which the hook stopped the job.
  std::vector<watching_listener::call> listened;  ///< Calls of the saving listener.
  std::optional<int64_t> listener_stopped_at;
  std::vector<std::string> left;
  world_gauge gauge;
  std::vector<std::string> breaches;  ///< Broken rules of the protocol.
  state_watch::sights inside;
  int64_t turns = 0, ended_turn = 0;  ///< The number of turns, and the turn of the job's last event.
  std::chrono::nanoseconds ended{};
  std::chrono::nanoseconds taken{};  ///< Time that reads and hooks took after the last trouble.
  uint64_t trace_hash = 0;
  std::optional<checkpoint_content> newest;  ///< The newest undamaged checkpoint at its end, if any.
  std::vector<std::string> unlisted;         ///< Checkpoint files that the state file does not name.
  std::vector<export_sight> exports;         ///< The exports at its end, also those of earlier processes.
  std::vector<int64_t> curve;                ///< Steps of the loss in the event files, as a reader shows them.
};

/// All processes of a recipe. The last one is undisturbed; it is missing if the job finished before.
struct story {
  recipe of;
  std::vector<observation> disturbed;
  std::optional<observation> undisturbed;
};
/// Plays a recipe. If `messages` is given, appends a line for each message: turn, time in nanoseconds, sender,
/// receiver, content.
story play(const recipe& r, std::string* messages = nullptr);

/// The whole story as text: recipe, results, troubles and events.
std::string to_text(const story& s);

/// Reads the files that a process left on the disk into `o`. `curve` is a tag of the event files.
void look_at(const std::shared_ptr<file_system>& disk, const std::string& curve, observation& o);
/// The prefix ("mixture/") of the values of a group that trains to the end; empty in a job of one group.
std::string prefix_of_survivor(const recipe& r);

/// The state at the end of the undisturbed job with these settings. Cached, since many recipes share it.
const checkpoint_content& reference_of(const recipe& r);

}  // namespace troupe::test::random_faults
