// The checkpoint watcher: looks at a model directory for what other processes do there, and tells its driver. It blocks
// for a short time at a time, so that it has a thread and still hears of its end.
//
//   directory ──changed──► checkpoint_watcher ── commit_seen ───► follower   (in an evaluator's process)
//                                             └─ verdict_seen ──► chief      (whose evaluator is another process)
#pragma once

#include "messages/interfaces.hpp"
#include "storage/files/file_system.hpp"
#include "words/activity.hpp"

namespace troupe {

struct checkpoint_watcher_options {
  std::string name = "checkpoint_watcher";
  std::shared_ptr<file_system> files;
  std::string directory;
  /// Longest time inside a call that waits for a change. 0, in simulation: it never blocks, and looks after `pause`.
  std::chrono::milliseconds patience{100};
  std::chrono::milliseconds pause{0};
};

struct checkpoint_watcher_state {
  static inline const char* name = "checkpoint_watcher";
  /// How often it tells what it has told already.
  static constexpr std::chrono::seconds tell_again{60};
  checkpoint_watcher_actor::stateful_pointer<checkpoint_watcher_state> self = nullptr;
  checkpoint_watcher_options options;
  activity spent;  ///< See counted.hpp.
  /// Exactly one of the two is not null.
  commit_listener_actor commits;
  verdict_listener_actor verdicts;
  std::unique_ptr<directory_watch> watch;  ///< Null if the system has none to give: then only time brings a look.
  std::optional<caf::actor_clock::time_point> looked;
  std::optional<commit_seen> told;
  caf::actor_clock::time_point told_at{};
  std::string judged_before;  ///< The text of judged.json that was told last.

  void on_proceed();
  bool changed();
  void look_for_commits();
  void look_for_verdicts();
};

checkpoint_watcher_actor::behavior_type checkpoint_watcher(
    checkpoint_watcher_actor::stateful_pointer<checkpoint_watcher_state> self, checkpoint_watcher_options options,
    commit_listener_actor commits, verdict_listener_actor verdicts);

}  // namespace troupe
