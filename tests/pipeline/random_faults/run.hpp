// Runs a recipe: one disk, successive processes on it, and an observation of each.
#pragma once

#include "pipeline/launch/simulated_launcher.hpp"
#include "pipeline/random_faults/state_watch.hpp"
#include "pipeline/random_faults/watching_hook.hpp"
#include "pipeline/random_faults/watching_listener.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/exports/export_directory.hpp"
#include "storage/files/memory_file_system.hpp"

#include <troupe/exporter.hpp>

namespace troupe::test::random_faults {

/// A trouble that happened. Not every trouble does, since a job may end before.
struct happening {
  trouble what;
  int64_t turn = 0;
  std::chrono::nanoseconds at{};
};

/// An exported model on the disk.
struct export_sight {
  std::string exporter, path;
  std::string trouble;                         ///< Why it cannot be read; empty: it is whole,
  export_content content;                      ///<   and this.
};

/// The observations of one process, for the checks.
struct observation {
  run_recipe run;
  int64_t stood_at = -1;                       ///< The newest checkpoint's step before; -1: none.
  std::optional<expected<train_result>> result;
  bool power_lost = false;
  bool stuck = false;                          ///< No event was left, and there was no result.
  bool endless = false;                        ///< It took more turns or virtual time than any job needs.
  std::vector<happening> happened;
  std::vector<job_event> events;
  std::vector<watching_hook::call> calls;      ///< Calls of the hook.
  std::vector<need> needs;
  std::optional<int64_t> stopped_on;           ///< The state of the held fact on which the hook stopped the job.
  std::vector<watching_listener::call> listened;   ///< Calls of the saving listener.
  std::optional<int64_t> listener_stopped_at;
  std::vector<std::string> left;
  world_gauge gauge;
  std::vector<std::string> breaches;           ///< Rules of the protocol that were broken while it ran.
  state_watch::sights inside;
  int64_t turns = 0, ended_turn = 0;           ///< All turns, and the turn of the job's last event.
  std::chrono::nanoseconds ended{};
  std::chrono::nanoseconds taken{};            ///< Time of reads and hooks after the last trouble.
  uint64_t trace_hash = 0;
  std::optional<checkpoint_content> newest;    ///< The newest undamaged checkpoint afterwards, if any.
  std::vector<std::string> unlisted;           ///< Files of checkpoints that the state file does not name.
  std::vector<export_sight> exports;           ///< The exports afterwards, also those of processes before.
  std::vector<int64_t> curve;                  ///< Steps of the loss in the event files, as a reader shows them.
};

/// All runs of a recipe, the last one undisturbed unless the job had finished before.
struct story {
  recipe of;
  std::vector<observation> disturbed;
  std::optional<observation> undisturbed;
};
/// With `messages`, adds a line for each message: turn, time in nanoseconds, sender, receiver, content.
story play(const recipe& r, std::string* messages = nullptr);

/// The story at length: recipe, results, troubles and events.
std::string to_text(const story& s);

/// The files that a process left on the disk; `curve` is a tag of its event files.
void look_at(const std::shared_ptr<file_system>& disk, const std::string& curve, observation& o);
/// A group of the recipe that trains to the end, as the prefix of its values, "mixture/"; empty in a job of one group.
std::string prefix_of_survivor(const recipe& r);

/// One exporter of each rule; its name is the rule's.
std::vector<exporter> exporters_of(const recipe& r);

/// The last state of an undisturbed job with these settings. Cached, since many recipes share it.
const checkpoint_content& reference_of(const recipe& r);

}  // namespace troupe::test::random_faults
