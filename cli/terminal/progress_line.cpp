#include "cli/terminal/progress_line.hpp"

#include "cli/terminal/columns.hpp"
#include "cli/terminal/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::cli {

namespace {

/// A duration as text: "0:42", "1:02:03".
std::string duration_text(double seconds) {
  const auto all = static_cast<int64_t>(std::ceil(std::clamp(seconds, 0.0, 1e9)));
  return all < 3600 ? fmt::format("{}:{:02}", all / 60, all % 60)
                    : fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
}

double share_done(const job_progress& now) {
  if (!now.max_steps)
    return 0;
  return *now.max_steps > 0 ? std::clamp(static_cast<double>(now.step) / static_cast<double>(*now.max_steps), 0.0, 1.0)
                            : 1.0;
}

std::string bar_text(double share) {
  constexpr size_t places = 20;
  const auto done = static_cast<size_t>(share * places);
  std::string text(done, '=');
  if (done < places)
    text += '>';
  text.resize(places, ' ');
  return "[" + text + "]";
}

std::string epoch_text(const job_progress& now, int64_t epoch_steps) {
  const int64_t begun = now.step / epoch_steps + 1;
  if (!now.max_steps)
    return fmt::format("epoch {}", begun);
  const int64_t all = std::max<int64_t>(1, *now.max_steps / epoch_steps + (*now.max_steps % epoch_steps != 0 ? 1 : 0));
  return fmt::format("epoch {}/{}", std::min(begun, all), all);
}

std::string evaluating_text(const job_progress& now, const job_scale& scale) {
  const auto& first = now.evaluating.front();
  const auto all = scale.evaluation_batches.find(first.name);
  return fmt::format("evaluating {}{}{}{}", first.name, first.name.empty() ? "" : " ", first.batches,
                     all != scale.evaluation_batches.end() ? fmt::format("/{}", all->second) : "");
}

/// The fields from left to right; empty ones are skipped.
std::vector<text_field> fields_of(const job_progress& now, const job_scale& scale, double elapsed,
                                  const std::string& evaluation, const std::string& training) {
  using phase = job_progress::phase;
  if (now.now == phase::starting || now.now == phase::restoring)
    return {{0, "starting"}, {1, "after " + duration_text(elapsed)}};
  const bool bounded = now.max_steps.has_value();
  const bool at_end = !bounded || now.step >= *now.max_steps;
  const bool saving = scale.saves && now.now == phase::draining && at_end && now.evaluating.empty();
  const double left = bounded && now.steps_per_second > 0
                          ? static_cast<double>(*now.max_steps - now.step) / now.steps_per_second
                          : -1;
  return {
      {8, bounded ? bar_text(share_done(now)) : ""},
      {4, bounded ? fmt::format("{:.0f}%", std::floor(100 * share_done(now))) : ""},
      {5, scale.epoch_steps.value_or(0) > 0 ? epoch_text(now, *scale.epoch_steps) : ""},
      {0, fmt::format("step {}", now.step) + (bounded ? fmt::format("/{}", *now.max_steps) : "")},
      {1, now.paused                     ? "paused"
          : now.now == phase::recovering ? "recovering"
          : !now.evaluating.empty()      ? evaluating_text(now, scale)
          : saving                       ? "saving"
                                         : ""},
      {6, now.steps_per_second > 0
              ? fmt::format("{:.{}f} steps/s", now.steps_per_second, now.steps_per_second < 10 ? 2 : 0)
              : ""},
      {3, fmt::format("loss {:.4g}", now.loss)},
      {7, training},
      {10, "after " + duration_text(elapsed)},
      {2, left >= 0 ? duration_text(left) + " left" : ""},
      {9, evaluation},
  };
}

}  // namespace

std::string progress_line(const job_progress& now, const job_scale& scale, double elapsed,
                          const std::string& evaluation, size_t width, const std::string& training) {
  // The last column stays free: some terminals wrap as soon as it is written to.
  return line_of(fitting(fields_of(now, scale, elapsed, evaluation, training), width > 0 ? width - 1 : 0));
}

std::vector<std::string> candidate_lines(const std::vector<candidate_progress>& candidates, size_t width) {
  auto shown = candidates;
  const auto by_average = [](const candidate_progress& c) {
    return c.average && !std::isnan(*c.average) ? *c.average : std::numeric_limits<double>::infinity();
  };
  if (shown.size() > candidates_shown_max) {
    std::stable_sort(shown.begin(), shown.end(), [&](const candidate_progress& a, const candidate_progress& b) {
      return by_average(a) < by_average(b);
    });
    shown.resize(candidates_shown_max);
  }
  size_t name_columns = 0;
  for (const auto& c : shown)
    name_columns = std::max(name_columns, columns_of(visible(c.spec)));
  std::vector<std::string> lines;
  for (const auto& c : shown) {
    const auto numbers = c.average ? fmt::format("  loss {:<8.4g}  average {:.4g}", c.loss, *c.average)
                                   : fmt::format("  loss {:.4g}", c.loss);
    const size_t room = width > numbers.size() + 3 ? width - numbers.size() - 3 : 0;
    auto name = shortened(visible(c.spec), std::min(room, name_columns));
    name.resize(name.size() + std::min(room, name_columns) - columns_of(name), ' ');
    lines.push_back(shortened((c.leads ? "* " : "  ") + name + numbers, width > 0 ? width - 1 : 0));
  }
  if (const size_t more = candidates.size() - shown.size(); more > 0)
    lines.push_back(shortened(fmt::format("  and {} more", more), width > 0 ? width - 1 : 0));
  return lines;
}

}  // namespace troupe::cli
