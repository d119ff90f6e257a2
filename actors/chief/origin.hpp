// Where the job and this process's part of it began, and what users have been told. Plain data.
#pragma once

#include "messages/snapshot.hpp"

#include <troupe/progress.hpp>

#include <chrono>
#include <set>

namespace troupe {

/// Describes the first attempt; later attempts begin elsewhere and do not change it.
struct job_origin {
  int64_t first_step = 0;                       ///< The step where the job first started; kept across restarts.
  int64_t start_step = 0;                       ///< The step where this process started the job.
  std::optional<checkpoint_id> came_from = {};  ///< The checkpoint that this process started from.
  std::string warm_start = {};                  ///< What a job without a checkpoint began with; empty: initial values.
  std::chrono::steady_clock::time_point began = {};  ///< By the actors' clock.
  bool data_anew = false;  ///< The job had finished there: its data are read from the beginning.
  bool known = false;      ///< The first attempt has been restored.
};

/// Told once in a job, whatever its attempts.
struct told_facts {
  bool begin = false, start = false;              ///< The begin was told to hooks, the start to everyone.
  std::shared_ptr<const group_hooks> hooks = {};  ///< Those of the plan that began last.
  std::optional<checkpoint_id> saved = {};        ///< The newest commit that users were told of.
  std::optional<int64_t> watch = {};              ///< The newest state whose values hooks were shown.
  std::set<std::string> warnings = {};            ///< Warnings told so far, which no attempt repeats.
  std::vector<std::string> later = {};            ///< Warnings that are told once training begins.
  std::optional<job_progress> status = {};        ///< The status that the board shows.
};

/// Requests of the user that outlive an attempt.
struct user_wishes {
  bool pause = false;  ///< Nothing is granted and no deadline runs.
  bool save = false;   ///< A save was requested while none was possible.
};

}  // namespace troupe
