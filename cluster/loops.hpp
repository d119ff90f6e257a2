// Loops: how many steps a job makes before hooks and carried state see a boundary. Pure functions of steps; the
// boundaries between loops do not depend on when checkpoints are saved. Functions only: no job has loops yet.
#pragma once

#include <troupe/error.hpp>

#include <chrono>
#include <variant>

namespace troupe {

/// How long a loop is: a number of steps, or the time that it should take.
using loop_length = std::variant<int64_t, std::chrono::seconds>;

/// Reads steps_per_loop: "100", or a time "90s", "2m", "1h", each a whole number of at least 1. invalid_argument: any
/// other text, or a time of more than a hundred years.
expected<loop_length> parse_loop_length(std::string_view text);

/// Steps [first, end).
struct loop_steps {
  int64_t first = 0;
  int64_t end = 0;
  friend bool operator==(const loop_steps&, const loop_steps&) = default;
};
/// The loop of at most `length` steps that begins at `first`, where a job ends at step `last`. Absent if no step is
/// left. `length` is at least 1.
std::optional<loop_steps> loop_from(int64_t first, int64_t length, int64_t last) noexcept;
/// The loop of `length` steps that has `step`, where the first one began at `origin` <= step. So a job that resumes
/// within a loop goes on with that loop.
std::optional<loop_steps> loop_at(int64_t step, int64_t origin, int64_t length, int64_t last) noexcept;

}  // namespace troupe
