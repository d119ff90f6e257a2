// The hooks of a prediction, called on the thread that takes its batches.
#pragma once

#include "words/step_values.hpp"

#include <troupe/hook.hpp>

#include <memory>

namespace troupe {

/// Each call returns the first exception of a hook as an error (`state`). One thread at a time.
class prediction_hooks {
 public:
  /// `outputs` are the names of a batch's values. No hook is null.
  prediction_hooks(std::vector<std::shared_ptr<hook>> hooks, std::vector<std::string> outputs);
  prediction_hooks(const prediction_hooks&) = delete;
  ~prediction_hooks();

  expected<void> begin();
  /// The next batch was taken.
  expected<void> show(const step_values& batch);
  /// A hook has ended the stream with the batch that it was shown.
  bool stopped() const noexcept;
  /// The last call, where there is none before: of a checkpoint's step and prefix. `failure`: the error that ended the stream.
  expected<void> end(int64_t step, const std::string& prefix, const std::optional<error>& failure);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe
