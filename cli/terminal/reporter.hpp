// Reports on a running job: a line redrawn in place on a terminal, lines elsewhere, JSON for programs.
#pragma once

#include "cli/terminal/lines.hpp"
#include "cli/terminal/progress_line.hpp"

#include <troupe/run_record.hpp>

#include <functional>
#include <mutex>

namespace troupe::cli {

enum class speech : uint8_t { terminal, plain, json };

struct reporter_options {
  speech how = speech::plain;
  bool quiet = false;  ///< Only results, warnings and errors.
  std::function<bool(std::string_view)> out;  ///< False once there is no reader: nothing is written after that.
  std::function<void(std::string_view)> err;
  std::function<double()> seconds;  ///< A monotonic clock.
  /// The columns of the terminal's window that `out` is; nothing: it is none, and lines stay whole.
  std::function<std::optional<size_t>()> window = [] { return std::optional<size_t>{}; };
  bool err_is_terminal = false;
};

/// Options according to `--json`, `--quiet`, standard output and COLUMNS. Warns once of a COLUMNS that is no number.
reporter_options standard_reporter(bool json, bool quiet);

/// A hook without gates, so that training never waits for its output. Any thread.
class reporter final : public hook {
 public:
  explicit reporter(reporter_options options) : options_(std::move(options)), began_(options_.seconds()) {}

  /// The end is reported by the caller of `wait`, not on its event, since it is the last line.
  void on_event(const job_event& event, job_control& job) override;
  /// The totals that the terminal's line measures progress by.
  void measure_by(const job_scale& scale);
  /// What a model calls its classes, for tables of them.
  void name_classes(const model& m);
  /// Redraws the terminal's line, at most five times a second; elsewhere does nothing.
  void redraw(const job_progress& progress);

  void warn(std::string_view text, int64_t step = 0);
  /// What differs from the configuration of the last run in the same directory.
  void changed(const std::vector<setting_difference>& differences);
  void finish(const train_result& result);
  void finish(const evaluation_result& result);
  /// Tells people at a terminal what is done before the job ends by a signal, and what a second one does. From now on
  /// the line of progress has no goal.
  void stopping(const job_progress& now, std::string_view signal);
  void stop(const train_result& result, std::string_view signal);
  /// Reports a stop without a result. Nothing is reported after it.
  void stop(std::string_view doing, std::string_view signal);
  /// `misuse`: omits the category, which adds nothing for a flag.
  void fail(const error& e, bool misuse = false);

 private:
  void say(const std::string& text);  ///< Prints above the terminal's line, wrapped in a window.
  void erase_line();
  const text_style& style();  ///< For the window as it is now.

  reporter_options options_;
  std::mutex guard_;
  bool reader_gone_ = false;
  bool told_all_ = false;
  bool line_drawn_ = false;
  bool stopping_ = false;
  double began_;
  double last_progress_ = -1e9;
  job_scale scale_;
  text_style style_;
  std::string last_evaluation_, last_training_;
};

}  // namespace troupe::cli
