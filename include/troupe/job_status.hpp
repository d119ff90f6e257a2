// The status of a running job, in a file that other processes read: what `troupe top` shows.
// Not needed to begin with.
//
//   auto job = tr::start(estimator, training);
//   const tr::status_keeper keeper{*job, "runs/fashion"};   // writes runs/fashion/.status.json once a second
//   ...
//   auto seen = tr::read_status("runs/fashion");             // in any process
#pragma once

#include <troupe/job.hpp>

namespace troupe {

inline constexpr std::string_view status_file = ".status.json";

struct job_status {
  double written = 0;   ///< Wall time, seconds since the epoch.
  int64_t process = 0;  ///< The number of the process,
  std::string host;     ///< and where it runs.
  job_progress progress;
  job_report report;  ///< What its actors did since the status before; no actors: they were not asked, or did not say.
};

/// One JSON object. Numbers that are not finite are texts: "nan".
TROUPE_API std::string to_json(const job_status& s);
/// data_loss, which begins with `file` and names the value: the text is no status.
TROUPE_API expected<job_status> parse_status(std::string_view text, const std::string& file);
/// For people: phase, step, loss, evaluations and the report. `now` is wall time, for the age. Its form may change.
TROUPE_API std::string to_text(const job_status& s, double now);

/// not_found: no job has kept a status there; data_loss; unavailable.
TROUPE_API expected<job_status> read_status(const std::string& model_dir);
/// Replaces the file: a reader sees the old or the new status. Errors of the disk.
TROUPE_API expected<void> write_status(const std::string& model_dir, const job_status& s);

/// Writes the status of a job every `every`, on a thread of its own, and a last time when it is destroyed. What cannot
/// be written is left out, and `warn` is told of the first such failure, on that thread: a status delays no job and
/// fails none. The file is that of the directory's owner: it is written from when the job owns its model directory, and
/// not by a job that was refused there, or that follows a chief's checkpoints. The job must outlive it.
class TROUPE_API status_keeper {
 public:
  status_keeper(job& of, std::string model_dir, std::chrono::milliseconds every = std::chrono::seconds{1},
                std::function<void(const std::string& text)> warn = {});
  ~status_keeper();
  status_keeper(const status_keeper&) = delete;
  status_keeper& operator=(const status_keeper&) = delete;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe
