// The file with the status of a job, and the thread that keeps it.
#include "estimator/job_impl.hpp"
#include "storage/files/file_system.hpp"
#include "words/bounded.hpp"
#include "words/told_line.hpp"

#include <troupe/job_status.hpp>

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace troupe {

namespace {

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

/// The job takes its directory a moment after it was started. Between two looks whether it has:
constexpr std::chrono::milliseconds until_owned{20};

}  // namespace

expected<job_status> read_status(const std::string& model_dir) {
  const auto path = join_path(model_dir, status_file);
  return read_file(*posix_file_system(), path).and_then([&](const std::string& text) {
    return parse_status(text, path);
  });
}

expected<void> write_status(const std::string& model_dir, const job_status& s) {
  return write_file_atomically(*posix_file_system(), model_dir, std::string{status_file}, to_json(s) + "\n");
}

struct status_keeper::impl {
  using warning = std::function<void(const std::string&)>;
  impl(job& of_, std::string directory_, std::chrono::milliseconds every_, warning warn_)
    : of(of_), directory(std::move(directory_)), every(std::max(bounded(every_), std::chrono::milliseconds{1})),
      warn(std::move(warn_)) {}

  job& of;
  std::string directory;
  std::chrono::milliseconds every;
  warning warn;  ///< Empty once it was called.
  std::mutex guard = {};
  std::condition_variable ends = {};
  bool ended = false;
  std::optional<job_report> before = {};
  std::thread thread = {};

  /// Whether the status is for this job to write: never one of a job that was refused because another owns the
  /// directory, or that follows another one there.
  bool is_ours(bool at_end) const {
    if (!of.impl_ || of.impl_->is_follower)
      return false;
    const auto& claim = of.impl_->claim;
    if (!claim)
      return true;
    if (claim->is_held())
      return claim->check().has_value();
    if (!at_end || !claim->was_held())
      return false;
    // A job that has ended gives its lock back, and may be about to. Where the owner cannot be known, the write fails
    // too, and says why.
    for (int looks = 0; looks < 5; ++looks) {
      const auto owner = posix_file_system()->lock_owner(directory);
      if (!owner || !*owner)
        return true;
      std::this_thread::sleep_for(until_owned);
    }
    return false;
  }

  void write_now(bool asks) {
    job_status now{.process = static_cast<int64_t>(::getpid()), .host = host_name()};
    if (asks)
      if (auto report = of.report(); report) {
        now.report = before ? since(*report, *before) : *report;
        before = std::move(*report);
      }
    // Read when the report is there: a job that starts answers late, and is in another phase by then.
    now.progress = of.progress();
    now.written = wall_time();
    if (!is_ours(!asks))  // Asked last: a report may take its time.
      return;
    // The job makes its directory a moment after it was started.
    if (auto written = write_status(directory, now); !written && written.error().category != errc::not_found && warn)
      tell_line(std::exchange(warn, {}), "the status of the job is not kept: " + written.error().message);
  }
  void keep() {
    std::unique_lock hold{guard};
    while (!ended && !is_ours(false))
      ends.wait_for(hold, until_owned, [this] { return ended; });
    while (!ended) {
      hold.unlock();
      write_now(true);
      hold.lock();
      ends.wait_for(hold, every, [this] { return ended; });
    }
  }
};

status_keeper::status_keeper(job& of, std::string model_dir, std::chrono::milliseconds every,
                             std::function<void(const std::string& text)> warn)
  : impl_(std::make_unique<impl>(of, std::move(model_dir), every, std::move(warn))) {
  impl_->thread = std::thread{[this] { impl_->keep(); }};
}

status_keeper::~status_keeper() {
  {
    const std::lock_guard hold{impl_->guard};
    impl_->ended = true;
  }
  impl_->ends.notify_all();
  impl_->thread.join();
  impl_->write_now(false);
}

}  // namespace troupe
