// Reports on a running job: on a terminal by a line redrawn in place, elsewhere by lines of text, for programs by JSON.
#pragma once

#include "cli/terminal/lines.hpp"
#include "cli/terminal/progress_line.hpp"

#include <troupe/run_record.hpp>

#include <functional>
#include <mutex>

namespace troupe::cli {

enum class speech : uint8_t { terminal, plain, json };

struct console_options {
  speech how = speech::plain;
  bool quiet = false;  ///< Only results, warnings and errors.
  /// Returns false once there is no reader; nothing is written after that.
  std::function<bool(std::string_view)> out;
  std::function<void(std::string_view)> err;
  std::function<double()> seconds;  ///< A monotonic clock.
  /// The width of the terminal's window that `out` writes to. Nothing if it is not a terminal; lines are then not
  /// wrapped.
  std::function<std::optional<size_t>()> window = [] { return std::optional<size_t>{}; };
  bool err_is_terminal = false;
};

/// Options according to `--json`, `--quiet`, standard output and COLUMNS. Warns once if COLUMNS is not a valid number.
console_options standard_console(bool json, bool quiet);

/// How an error is told: that of a misuse without its category, which adds nothing for a flag.
enum class printed_as : uint8_t { failure, misuse };

/// A hook without gates, so that training never waits for its output. Any thread.
class console_printer final : public hook {
 public:
  explicit console_printer(console_options options) : options_(std::move(options)), began_(options_.seconds()) {}

  /// Does not report the end of the job: `finish` or `stop` do that, since it must be the last line.
  void on_event(const job_event& event, job_control& job) override;
  /// Sets the totals with which the terminal's line shows progress.
  void measure_by(const job_scale& scale);
  /// Takes the class names of the model, for tables of classes.
  void name_classes(const model& m);
  /// Redraws the terminal's line, in a search with lines of its candidates above it, at most five times a second. Does
  /// nothing elsewhere.
  void redraw(const job_progress& progress);

  void warn(std::string_view text, int64_t step = 0);
  /// Reports what differs from the configuration of the last run in the same directory.
  void changed(const std::vector<setting_difference>& differences);
  void finish(const train_result& result);
  void finish(const evaluation_result& result);
  /// Tells people at a terminal what the job does before it ends by a signal, and what a second signal does. From then
  /// on the progress line has no goal.
  void stopping(const job_progress& now, std::string_view signal);
  void stop(const train_result& result, std::string_view signal);
  /// Reports a stop without a result. Nothing is reported after it.
  void stop(std::string_view doing, std::string_view signal);
  void fail(const error& e, printed_as what = printed_as::failure);

 private:
  /// Prints above the terminal's progress line; wrapped in a window.
  void say(const std::string& text);
  void erase_line();  ///< With the lines of candidates.
  std::string back_to_first_line() const;
  const text_style& style();  ///< With the current width of the window.

  console_options options_;
  std::mutex guard_;
  bool reader_gone_ = false;
  bool told_all_ = false;
  size_t lines_drawn_ = 0;  ///< The progress line, with the lines of candidates above it.
  bool stopping_ = false;
  double began_;
  double last_progress_ = -1e9;
  job_scale scale_;
  text_style style_;
  std::string last_evaluation_, last_training_;
};

}  // namespace troupe::cli
