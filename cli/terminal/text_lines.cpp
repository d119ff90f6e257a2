#include "cli/terminal/lines.hpp"

#include <fmt/format.h>

namespace troupe::cli {

namespace {

/// The tables of arrays below a line, without the last newline.
std::string below(const std::map<std::string, tensor>& arrays, const table_style& style) {
  auto text = tables_text(arrays, style);
  if (!text.empty())
    text.pop_back();
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string changed_text(const std::vector<setting_difference>& differences) {
  std::string text = "configured in another way than the last run here:";
  for (const auto& d : differences)
    text += "\n  " + to_text(d);
  return text;
}

std::string event_text(const job_event& event, const table_style& style) {
  return event.what == job_event::kind::evaluated ? to_text(event) + recall_text(event.arrays, style) : to_text(event);
}

std::string finished_text(const train_result& result, const table_style& style) {
  std::string text = fmt::format("finished at step {}, {} steps in {:.1f} s", result.global_step, result.steps_run, result.seconds);
  if (const auto metrics = metrics_text(result.metrics); !metrics.empty())
    text += ": " + metrics;
  text += below(result.arrays, style);
  return result.remark.empty() ? text : result.remark + "\n" + text;
}

std::string finished_text(const evaluation_result& result, const table_style& style) {
  return fmt::format("step {}, {} batches in {:.1f} s: {}{}", result.global_step, result.batches, result.seconds, metrics_text(result.metrics),
                     below(result.arrays, style));
}

std::string stopped_text(const train_result& result, std::string_view signal) {
  return fmt::format("stopped by {} at step {}, {} steps in {:.1f} s{}", signal, result.global_step, result.steps_run, result.seconds,
                     result.checkpoint.empty() ? "" : fmt::format("; saved as {}: the same command goes on from there", result.checkpoint));
}

std::string stopped_text(std::string_view doing, std::string_view signal) {
  return fmt::format("stopped by {} {}", signal, doing);
}

}  // namespace troupe::cli
