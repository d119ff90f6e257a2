// The board of a prediction for both launchers: a queue of batches for the consumer.
#pragma once

#include "actors/prediction_board.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace troupe {

/// Holds no more batches than the consumer has given credit for. Used by any thread.
class prediction_queue final : public prediction_board {
 public:
  void loaded(loaded_state from) override;
  void batch(step_values values) override;
  void ended(std::optional<error> cause) override;

  /// Outer absence: there is nothing to take yet. Else the next batch, absence after the last one, or, after all batches
  /// before it, the cause of a failure.
  std::optional<expected<std::optional<step_values>>> take();
  /// Waits until `take` returns something, at most until the deadline. Returns whether it does.
  bool wait(std::chrono::milliseconds deadline);
  /// Drops the batches; from now on `take` returns error `cancelled`. No effect after the end has been taken.
  void cancel();
  loaded_state from() const;

 private:
  mutable std::mutex guard_;
  std::condition_variable changed_;
  std::deque<step_values> batches_;
  loaded_state from_;
  bool ended_ = false;
  std::optional<error> cause_;
};

}  // namespace troupe
