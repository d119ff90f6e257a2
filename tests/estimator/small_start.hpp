// A small job for the public API, which tests can start many times.
#pragma once

#include "tests/support/small_job.hpp"
#include "tests/support/temporary_directory.hpp"

#include <troupe/checkpoints.hpp>
#include <troupe/job.hpp>

#include <chrono>

namespace troupe::test {

constexpr int64_t endless = int64_t{1} << 40;

/// An estimator that saves every million steps: only at the start and at the end.
inline estimator small_estimator(const std::string& directory) {
  return {small_model(),
          {.model_dir = directory,
           .seed = 7,
           .save_summary_steps = 0,
           .save_checkpoints_steps = 1'000'000,
           .log_step_count_steps = 5}};
}
inline train_spec small_training(int64_t max_steps, std::vector<std::shared_ptr<hook>> hooks = {}) {
  return {.input = small_dataset().shuffle().batch(4).repeat(), .max_steps = max_steps, .hooks = std::move(hooks)};
}

/// The text of the error; empty if there is none.
template <class T>
std::string why(const expected<T>& x) {
  return x ? "" : to_text(x.error());
}

/// The step of the newest checkpoint in `directory`; -1 if there is none.
inline int64_t newest_step(const std::string& directory) {
  auto description = inspect_directory(directory);
  return description ? description->newest.value_or(checkpoint_id{-1}).step : -1;
}

}  // namespace troupe::test
