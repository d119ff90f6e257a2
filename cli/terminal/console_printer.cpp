#include "cli/terminal/console_printer.hpp"

#include "cli/terminal/columns.hpp"
#include "cli/terminal/output.hpp"

#include <chrono>
#include <cstdlib>
#include <utility>

namespace troupe::cli {

namespace {

constexpr double redraw_every = 0.2, plain_progress_every = 1.0;

/// One metric only, so that the line stays short: "accuracy 0.8457".
std::string headline(const job_event& event, const char* otherwise) {
  auto metric = event.metrics.find("accuracy");
  if (metric == event.metrics.end())
    metric = event.metrics.find(otherwise);
  return metric == event.metrics.end() ? "" : visible(metrics_text({*metric}));
}

/// The metric with its step: "accuracy 0.8457 at 390", "train accuracy 0.9 at 390".
std::string evaluation_headline(const job_event& evaluated) {
  const auto text = headline(evaluated, "loss");
  if (text.empty())
    return text;
  const auto name = visible(evaluated.evaluation);
  return name + (name.empty() ? "" : " ") + text + " at " + std::to_string(evaluated.step);
}

}  // namespace

console_options standard_console(bool json, bool quiet) {
  console_options options{json ? speech::json : output_is_terminal() ? speech::terminal : speech::plain, quiet};
  options.out = write_output;
  options.err = write_error;
  options.seconds = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  options.window = output_columns;
  options.err_is_terminal = error_is_terminal();
  // The program has two reporters: one before its command is known, and the command's own.
  static bool warned = false;
  const auto set = parse_columns(std::getenv("COLUMNS"));
  if (!set && !json && output_columns() && !std::exchange(warned, true))
    options.err("warning: " + set.error().message + "; it is ignored\n");
  return options;
}

void console_printer::on_event(const job_event& event, job_control&) {
  using kind = job_event::kind;
  if (event.what == kind::finished || event.what == kind::stopped || event.what == kind::failed)
    return;
  if (event.what == kind::warning)
    return warn(event.text, event.step);
  std::lock_guard lock{guard_};
  if (options_.quiet)
    return;
  if (options_.how == speech::json)
    return say(event_json(event));
  if (event.what == kind::progress) {
    last_training_ = headline(event, "average_loss");
    const double now = options_.seconds();
    if (options_.how == speech::terminal || now - last_progress_ < plain_progress_every)
      return;
    last_progress_ = now;
  }
  if (event.what == kind::evaluated)
    last_evaluation_ = evaluation_headline(event);
  if (event.what != kind::saved || options_.how != speech::terminal)
    say(event_text(event, style()));
}

void console_printer::redraw(const job_progress& progress) {
  std::lock_guard lock{guard_};
  const double now = options_.seconds();
  if (options_.how != speech::terminal || options_.quiet || reader_gone_ || told_all_
      || now - last_progress_ < redraw_every)
    return;
  last_progress_ = now;
  auto shown = progress;
  if (stopping_)
    shown.max_steps = {};  // Its progress does not say where the job will now end.
  const size_t width = options_.window().value_or(80);
  const auto line = progress_line(shown, scale_, now - began_, last_evaluation_, width, last_training_);
  std::string text = back_to_first_line();
  const auto candidates = candidate_lines(progress.candidates, width);
  for (const auto& one : candidates)
    text += one + "\x1b[K\n";
  text += line + "\x1b[K";
  if (candidates.size() + 1 < lines_drawn_)
    text += "\x1b[J";  // Lines of candidates that there are no more.
  lines_drawn_ = candidates.size() + 1;
  reader_gone_ = !options_.out(text);
}

std::string console_printer::back_to_first_line() const {
  return lines_drawn_ > 1 ? "\x1b[" + std::to_string(lines_drawn_ - 1) + "A\r" : "\r";
}

void console_printer::measure_by(const job_scale& scale) {
  std::lock_guard lock{guard_};
  scale_ = scale;
}

void console_printer::name_classes(const model& m) {
  std::lock_guard lock{guard_};
  style_.classes = class_names_of(m);
  for (auto& [matrix, words] : style_.classes)
    for (auto& word : words)
      word = visible(word);
}

void console_printer::warn(std::string_view text, int64_t step) {
  std::lock_guard lock{guard_};
  if (options_.how == speech::json)
    return say(warning_json(text, step));
  erase_line();
  options_.err("warning: " + visible(text) + "\n");
}

void console_printer::changed(const std::vector<setting_difference>& differences) {
  std::lock_guard lock{guard_};
  if (!options_.quiet && !differences.empty())
    say(options_.how == speech::json ? changed_json(differences) : changed_text(differences));
}

void console_printer::finish(const train_result& result) {
  std::lock_guard lock{guard_};
  say(options_.how == speech::json ? finished_json(result) : finished_text(result, style()));
}

void console_printer::finish(const evaluation_result& result) {
  std::lock_guard lock{guard_};
  say(options_.how == speech::json ? finished_json(result) : finished_text(result, style()));
}

void console_printer::stopping(const job_progress& now, std::string_view signal) {
  std::lock_guard lock{guard_};
  stopping_ = true;
  const auto text = stopping_text(now, scale_, signal);
  if (options_.quiet || options_.how == speech::json || text.empty())
    return;
  if (options_.window())
    say(text);
  else if (options_.err_is_terminal)
    options_.err(text + "\n");
}

void console_printer::stop(const train_result& result, std::string_view signal) {
  std::lock_guard lock{guard_};
  say(options_.how == speech::json ? stopped_json(result, signal) : stopped_text(result, signal));
}

void console_printer::stop(std::string_view doing, std::string_view signal) {
  std::lock_guard lock{guard_};
  say(options_.how == speech::json ? stopped_json(doing, signal) : stopped_text(doing, signal));
  told_all_ = true;
}

void console_printer::fail(const error& e, printed_as what) {
  std::lock_guard lock{guard_};
  if (told_all_)
    return;
  erase_line();
  std::string text = what == printed_as::misuse ? e.message
                                                : to_text(error{e.category, e.message, {}, e.source, e.step});
  for (const auto& note : e.notes)
    text += "\n  note: " + note;
  options_.err("error: " + visible(text) + "\n");
  if (options_.how == speech::json)
    say(failed_json(e));
}

const text_style& console_printer::style() {
  style_.window = options_.window();
  return style_;
}

void console_printer::say(const std::string& text) {
  if (told_all_)
    return;
  erase_line();
  if (reader_gone_)
    return;
  auto line = options_.how == speech::json ? text : visible(text);
  if (const auto window = options_.how == speech::json ? std::nullopt : options_.window())
    line = wrapped(line, *window);
  reader_gone_ = !options_.out(line + "\n");
}

void console_printer::erase_line() {
  const auto begin = back_to_first_line();
  const auto drawn = std::exchange(lines_drawn_, 0);
  if (drawn > 0 && !reader_gone_)
    reader_gone_ = !options_.out(begin + (drawn > 1 ? "\x1b[J" : "\x1b[K"));
}

}  // namespace troupe::cli
