#include "cli/terminal/lines.hpp"
#include "cli/terminal/output.hpp"

#include <fmt/format.h>

#include <utility>

namespace troupe::cli {

namespace {

/// The tables of arrays, as the text below a line, without the final newline.
std::string below(const std::map<std::string, tensor>& arrays, const text_style& style) {
  auto text = tables_text(arrays, style);
  if (!text.empty())
    text.pop_back();
  return text.empty() ? text : "\n" + text;
}

/// The winner of a search with its members, in lines below the result.
std::string winner_text(const search_result& search) {
  std::string members, indices;
  for (const auto& m : search.winner.members)
    members += fmt::format("\n  {} of iteration {}", m.builder, m.iteration);
  for (const int64_t index : search.replay_indices)
    indices += fmt::format("{}{}", indices.empty() ? "" : ", ", index);
  return fmt::format(
      "\nwinner in iteration {}: {}, of {} {}{}{}", search.iteration, search.spec, search.winner.members.size(),
      search.winner.members.size() == 1 ? "network" : "networks", members,
      indices.empty() ? "" : fmt::format("\nsearch.replay_indices = [{}] repeats these choices", indices));
}

constexpr int need_of_lowest = 6;

/// The rank of a metric in the line of an evaluation. If the window is too narrow, the greatest ranks are left out
/// first.
///
/// 1, 2  accuracy, then loss: the progress line shows the same two, and every model has a loss.
/// 3, 4  The same metrics of the heads of a multi_head.
/// 5     All other metrics.
/// 6     The classes with the lowest recall (need_of_lowest): they only detail the accuracy.
/// 7     label/mean, prediction/mean, accuracy_baseline: they describe the data and hardly change between evaluations.
/// 8     An average_loss that is printed like the loss: it says nothing new.
int need_of(const std::string& name, const std::map<std::string, double>& metrics) {
  const auto head = name.substr(0, name.rfind('/') + 1), last = name.substr(head.size());
  if (last == "average_loss") {
    const auto loss = metrics.find(head + "loss");
    const auto printed = [](double x) { return fmt::format("{:.4g}", x); };
    return loss != metrics.end() && printed(loss->second) == printed(metrics.at(name)) ? 8 : 5;
  }
  if (last == "accuracy")
    return head.empty() ? 1 : 3;
  if (last == "loss")
    return head.empty() ? 2 : 4;
  return last == "mean" || last == "accuracy_baseline" ? 7 : 5;
}

/// An evaluation in one line of at most `window` columns.
std::string evaluated_text(const job_event& e, const text_style& style, size_t window) {
  const auto of = e.evaluation.empty() ? "" : " for " + e.evaluation;
  const auto head = visible(fmt::format("evaluated step {}{}", e.step, of));
  std::vector<text_field> fields{{0, head}};
  for (const auto& metric : e.metrics)
    if (auto text = metrics_text({metric}); !text.empty())
      fields.push_back({need_of(metric.first, e.metrics), visible(text), ", "});
  for (auto& lowest : recall_fields(e.arrays, style, need_of_lowest))
    fields.push_back(std::move(lowest));
  auto shown = fitting(fields, window);
  if (shown.empty())
    return shortened(head, window);
  if (shown.size() > 1)
    shown[1].before = ": ";
  return line_of(shown);
}

/// What a job in this state does before it ends by a signal. The progress does not show exporters and hooks: exporters
/// are named if nothing else is left to do, and hooks always have a last call.
std::vector<std::string> awaited_after_signal(const job_progress& now, const job_scale& scale) {
  using phase = job_progress::phase;
  std::vector<std::string> awaited;
  const bool drains = now.now == phase::draining && now.max_steps && now.step < *now.max_steps;
  const bool trains = now.now == phase::training || drains;
  // Steps that have been granted are still made: two blocks, or 0.2 s of steps.
  const std::string_view up_to = trains ? " or of one soon after" : "";
  if (now.now == phase::recovering)
    awaited.emplace_back("restoring the state that the job goes on from");
  else if (scale.saves && (trains || now.committed_step < now.step))
    awaited.push_back(fmt::format("saving the state of step {}{}", now.step, up_to));
  else if (trains)
    awaited.push_back(fmt::format("reaching the state of step {}{}", now.step, up_to));
  for (const auto& e : now.evaluating) {
    const auto all = scale.evaluation_batches.find(e.name);
    const auto of_all = all != scale.evaluation_batches.end() ? fmt::format(" of {}", all->second) : "";
    awaited.push_back(fmt::format("giving up the evaluation of step {}{} ({}{} batches done)", e.step,
                                  e.name.empty() ? "" : " for " + e.name, e.batches, of_all));
  }
  if (awaited.empty())
    awaited.emplace_back("exporters");
  awaited.emplace_back("the last calls of hooks");
  return awaited;
}

}  // namespace

std::string changed_text(const std::vector<setting_difference>& differences) {
  std::string text = "configured in another way than the last run here:";
  for (const auto& d : differences)
    text += "\n  " + to_text(d);
  return text;
}

std::string event_text(const job_event& event, const text_style& style) {
  if (event.what != job_event::kind::evaluated)
    return to_text(event);
  return style.window ? evaluated_text(event, style, *style.window) : to_text(event) + recall_text(event.arrays, style);
}

std::string finished_text(const train_result& result, const text_style& style) {
  std::string text = fmt::format("finished at step {}, {} steps in {:.1f} s", result.global_step, result.steps_run,
                                 result.seconds);
  if (const auto metrics = metrics_text(result.metrics); !metrics.empty())
    text += ": " + metrics;
  text += below(result.arrays, style);
  if (result.search)
    text += winner_text(*result.search);
  return result.remark.empty() ? text : result.remark + "\n" + text;
}

std::string finished_text(const evaluation_result& result, const text_style& style) {
  return fmt::format("step {}, {} batches in {:.1f} s: {}{}", result.global_step, result.batches, result.seconds,
                     metrics_text(result.metrics), below(result.arrays, style));
}

std::string stopped_text(const train_result& result, std::string_view signal) {
  return fmt::format(
      "stopped by {} at step {}, {} steps in {:.1f} s{}", signal, result.global_step, result.steps_run, result.seconds,
      result.checkpoint.empty() ? ""
                                : fmt::format("; saved as {}: the same command goes on from there", result.checkpoint));
}

std::string stopping_text(const job_progress& now, const job_scale& scale, std::string_view signal) {
  using phase = job_progress::phase;
  if (now.now == phase::finished || now.now == phase::failed)
    return {};
  std::string text = fmt::format("stopping by {} once this is done", signal), separator = ": ";
  for (const auto& awaited : awaited_after_signal(now, scale))
    text += std::exchange(separator, "; ") + awaited;
  text += "\na second signal ends the program at once";
  if (scale.saves)
    text += now.committed_step < 0
                ? "; this run has saved nothing yet"
                : fmt::format("; the last state that is saved is that of step {}", now.committed_step);
  return text;
}

std::string stopped_text(std::string_view doing, std::string_view signal) {
  return fmt::format("stopped by {} {}", signal, doing);
}

}  // namespace troupe::cli
