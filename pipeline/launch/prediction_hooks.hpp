// The hooks of a prediction. They are called on the thread that takes its batches.
#pragma once

#include "words/step_values.hpp"

#include <troupe/hook.hpp>

#include <memory>

namespace troupe {

/// Each call returns the first exception of a hook as an error (`state`). Used by one thread at a time.
class prediction_hooks {
 public:
  /// `outputs` names the values of a batch. No hook may be null.
  prediction_hooks(std::vector<std::shared_ptr<hook>> hooks, std::vector<std::string> outputs);
  prediction_hooks(const prediction_hooks&) = delete;
  ~prediction_hooks();

  expected<void> begin();
  /// Shows the hooks a batch that the consumer has taken.
  expected<void> show(const step_values& batch);
  /// Whether a hook has ended the stream at the last batch that was shown.
  bool stopped() const noexcept;
  /// Tells the hooks that the stream has ended; later calls do nothing. `step` and `prefix` name the checkpoint;
  /// `failure` is the error that ended the stream, if any.
  expected<void> end(int64_t step, const std::string& prefix, const std::optional<error>& failure);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe
