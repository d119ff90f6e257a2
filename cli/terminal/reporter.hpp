// Tells what a job does while it does it: a line redrawn in place on a terminal, lines elsewhere, JSON for programs.
#pragma once

#include "cli/terminal/lines.hpp"
#include "cli/terminal/progress_line.hpp"

#include <functional>
#include <mutex>

namespace troupe::cli {

enum class speech : uint8_t { terminal, plain, json };

struct reporter_options {
  speech how = speech::plain;
  bool quiet = false;  ///< Only results, warnings and errors.
  std::function<bool(std::string_view)> out;  ///< False once nobody reads any more: nothing is written after that.
  std::function<void(std::string_view)> err;
  std::function<double()> seconds;  ///< A clock that never goes back.
  std::function<size_t()> width = [] { return size_t{80}; };
};

/// As `--json`, `--quiet` and standard output say.
reporter_options standard_reporter(bool json, bool quiet);

/// A hook that only looks, so that training never waits for its output. Any thread.
class reporter final : public hook {
 public:
  explicit reporter(reporter_options options) : options_(std::move(options)), began_(options_.seconds()) {}

  /// The ending is not told by the event but by who waits for the job, since that is the last line.
  void on_event(const job_event& event, job_control& job) override;
  /// What the terminal's line measures progress by.
  void measure_by(const job_scale& scale);
  /// The line of a terminal, at most five times a second; nothing elsewhere.
  void redraw(const job_progress& progress);

  void warn(std::string_view text, int64_t step = 0);
  void finish(const train_result& result);
  void finish(const evaluation_result& result);
  void stop(const train_result& result, std::string_view signal);
  /// What had no result yet. Nothing is told after it.
  void stop(std::string_view doing, std::string_view signal);
  /// `misuse`: without the category, which says nothing more about a flag.
  void fail(const error& e, bool misuse = false);

 private:
  void say(const std::string& text);  ///< Above the terminal's line.
  void erase_line();

  reporter_options options_;
  std::mutex guard_;
  bool reader_gone_ = false;
  bool told_all_ = false;
  bool line_drawn_ = false;
  double began_;
  double last_progress_ = -1e9;
  job_scale scale_;
  std::string last_evaluation_;
};

}  // namespace troupe::cli
