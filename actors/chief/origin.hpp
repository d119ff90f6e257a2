// Where a job and this process's part of it have begun, and what users know by now. Plain data.
#pragma once

#include "messages/snapshot.hpp"

#include <troupe/progress.hpp>

#include <chrono>
#include <set>

namespace troupe {

/// Of the first attempt; later ones begin elsewhere, and change none of it.
struct job_origin {
  int64_t first_step = 0;                       ///< The step where the job first started; kept across restarts.
  int64_t start_step = 0;                       ///< The step where this process started it.
  std::optional<checkpoint_id> came_from = {};  ///< The checkpoint that this process started from.
  std::string warm_start = {};                  ///< What a job without a checkpoint has begun with; empty: initial values.
  std::chrono::steady_clock::time_point began = {};  ///< By the clock of the actors.
  bool data_anew = false;                       ///< The job had finished there: its data begin anew.
  bool known = false;                           ///< The first attempt has been restored.
};

/// Told once a job, whatever its attempts.
struct told_facts {
  bool begin = false, start = false;            ///< To hooks, and to everyone.
  std::optional<checkpoint_id> saved = {};      ///< The newest commit that users know of.
  std::optional<int64_t> watch = {};            ///< The newest state whose values hooks were shown.
  std::set<std::string> warnings = {};          ///< Each attempt restores, and would tell them again.
  std::vector<std::string> later = {};          ///< Warnings that are told once training begins.
  std::optional<job_progress> status = {};      ///< What the board has.
};

/// What the user has asked for, whatever attempt makes of it.
struct user_wishes {
  bool pause = false;  ///< Nothing is granted, and no deadline runs.
  bool save = false;   ///< A save was requested while nothing could be saved.
};

}  // namespace troupe
