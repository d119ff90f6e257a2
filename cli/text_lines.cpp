#include "cli/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace troupe::cli {

std::string metrics_text(const std::map<std::string, double>& metrics) {
  std::string text;
  for (const auto& [name, value] : metrics)
    if (name != "global_step")
      text += fmt::format("{}{} {:.4g}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::string duration_text(double seconds) {
  const auto all = static_cast<int64_t>(std::ceil(std::clamp(seconds, 0.0, 1e9)));
  return all < 3600 ? fmt::format("{}:{:02}", all / 60, all % 60) : fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
}

std::string progress_text(int64_t step, std::optional<int64_t> max_steps, double steps_per_second, double loss) {
  std::string text = fmt::format("step {}", step);
  if (max_steps)
    text += fmt::format("/{}  {}%", *max_steps, *max_steps > 0 ? step * 100 / *max_steps : 100);
  if (steps_per_second > 0)
    text += fmt::format("  {:.{}f} steps/s", steps_per_second, steps_per_second < 10 ? 2 : 0);
  text += fmt::format("  loss {:.4g}", loss);
  if (max_steps && steps_per_second > 0)
    text += fmt::format("  ETA {}", duration_text(static_cast<double>(*max_steps - step) / steps_per_second));
  return text;
}

std::string event_text(const job_event& event) {
  switch (event.what) {
    case job_event::kind::started: {
      const std::string until = event.max_steps ? fmt::format(", to step {}", *event.max_steps) : "";
      return fmt::format("started at step {}{}: {}", event.step, until, event.text);
    }
    case job_event::kind::progress: return progress_text(event.step, event.max_steps, event.steps_per_second, event.loss);
    case job_event::kind::saved: return fmt::format("saved {}", event.text);
    case job_event::kind::evaluated: return fmt::format("evaluated step {}: {}", event.step, metrics_text(event.metrics));
    default: return event.text;
  }
}

std::string finished_text(const train_result& result) {
  std::string text = fmt::format("finished at step {}, {} steps in {:.1f} s", result.global_step, result.steps_run, result.seconds);
  if (const auto metrics = metrics_text(result.metrics); !metrics.empty())
    text += ": " + metrics;
  return result.remark.empty() ? text : result.remark + "\n" + text;
}

std::string finished_text(const evaluation_result& result) {
  return fmt::format("step {}, {} batches in {:.1f} s: {}", result.global_step, result.batches, result.seconds, metrics_text(result.metrics));
}

std::string stopped_text(const train_result& result, std::string_view signal) {
  return fmt::format("stopped by {} at step {}, {} steps in {:.1f} s{}", signal, result.global_step, result.steps_run, result.seconds,
                     result.checkpoint.empty() ? "" : fmt::format("; saved as {}: the same command goes on from there", result.checkpoint));
}

}  // namespace troupe::cli
