// Texts about a job's events, for people.
#include <troupe/hook.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

/// A duration as text: "0:42", "1:02:03".
std::string duration_text(double seconds) {
  const auto all = static_cast<int64_t>(std::ceil(std::clamp(seconds, 0.0, 1e9)));
  return all < 3600 ? fmt::format("{}:{:02}", all / 60, all % 60)
                    : fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
}

constexpr int shown_metrics_max = 3;

std::string progress_text(const job_event& e) {
  std::string text = fmt::format("step {}", e.step);
  if (e.max_steps)
    text += fmt::format("/{}  {}%", *e.max_steps, *e.max_steps > 0 ? e.step * 100 / *e.max_steps : 100);
  if (e.steps_per_second > 0)
    text += fmt::format("  {:.{}f} steps/s", e.steps_per_second, e.steps_per_second < 10 ? 2 : 0);
  text += fmt::format("  loss {:.4g}", e.loss);
  int shown = 0;
  for (const auto& [name, value] : e.metrics)
    // Of one step, average_loss is the loss, which is shown already.
    if (name != "average_loss" && shown++ < shown_metrics_max)
      text += fmt::format("  {} {:.4g}", name, value);
  if (e.max_steps && e.steps_per_second > 0)
    text += fmt::format("  ETA {}", duration_text(static_cast<double>(*e.max_steps - e.step) / e.steps_per_second));
  return text;
}

std::string end_text(const job_event& e) {
  std::string text = fmt::format("{} at step {} after {:.1f} s", to_string(e.what), e.step, e.seconds);
  if (const auto metrics = metrics_text(e.metrics); !metrics.empty())
    text += ": " + metrics;
  return e.text.empty() ? text : text + "; " + e.text;
}

}  // namespace

std::string metrics_text(const std::map<std::string, double>& metrics) {
  std::string text;
  for (const auto& [name, value] : metrics)
    if (name != "global_step")
      text += fmt::format("{}{} {:.4g}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::string arrays_text(const std::map<std::string, tensor>& arrays) {
  constexpr int64_t shown_max = 20;
  std::string text;
  for (const auto& [name, array] : arrays) {
    const bool matrix = array.dims().rank() == 2;
    const int64_t rows = matrix ? array.dims()[0] : 1, columns = matrix ? array.dims()[1] : array.elements();
    if (rows > shown_max || columns > shown_max || array.dims().rank() > 2) {
      text += fmt::format("{} {}\n", name, to_text(array.dims()));
      continue;
    }
    std::vector<std::string> cells;
    size_t width = std::to_string(std::max(rows, columns)).size();
    for (const double x : array.as<double>())
      width = std::max(width, cells.emplace_back(fmt::format("{:.4g}", x)).size());
    text += name + "\n";
    if (matrix) {
      text += fmt::format("  {:>{}}", "", width);
      for (int64_t j = 0; j < columns; ++j)
        text += fmt::format("  {:>{}}", j, width);
      text += "\n";
    }
    for (int64_t i = 0; i < rows; ++i) {
      text += matrix ? fmt::format("  {:>{}}", i, width) : std::string{};
      for (int64_t j = 0; j < columns; ++j)
        text += fmt::format("  {:>{}}", cells[static_cast<size_t>(i * columns + j)], width);
      text += "\n";
    }
  }
  return text;
}

std::string to_text(const job_event& e) {
  using kind = job_event::kind;
  switch (e.what) {
    case kind::started: {
      const std::string until = e.max_steps ? fmt::format(", to step {}", *e.max_steps) : "";
      return fmt::format("started at step {}{}: {}", e.step, until, e.text);
    }
    case kind::progress: return progress_text(e);
    case kind::saved: return "saved " + e.text;
    case kind::evaluated:
      return fmt::format("evaluated step {}{}: {}", e.step, e.evaluation.empty() ? "" : " for " + e.evaluation,
                         metrics_text(e.metrics));
    case kind::warning:
    case kind::chosen:
    case kind::grown:
    case kind::recovering: return e.text;
    case kind::recovered:
      return fmt::format("recovered: attempt {} begins at step {}{}", e.attempt, e.step,
                         e.text.empty() ? "" : ", from " + e.text);
    case kind::finished:
    case kind::stopped: return end_text(e);
    case kind::failed: return e.failure ? to_text(*e.failure) : "failed";
  }
  return e.text;
}

}  // namespace troupe
