// The board of a prediction: a queue of batches for the consumer.
#pragma once

#include "actors/prediction_board.hpp"

#include <deque>
#include <functional>
#include <mutex>

namespace troupe {

/// Holds no more batches than the consumer has given credit for. Used by any thread.
class prediction_queue final : public prediction_board {
 public:
  /// `changed`, unless empty, is called once `ready` may have changed, outside the queue's lock.
  explicit prediction_queue(std::function<void()> changed) : changed_(std::move(changed)) {}
  void loaded(loaded_state from) override;
  void batch(step_values values) override;
  void ended(std::optional<error> cause) override;

  /// Outer absence: there is nothing to take yet. Else the next batch, absence after the last one, or, after all batches
  /// before it, the cause of a failure.
  std::optional<expected<std::optional<step_values>>> take();
  /// Whether `take` returns something.
  bool ready() const;
  /// Drops the batches; from now on `take` returns error `cancelled`. No effect after the end has been taken.
  void cancel();
  loaded_state from() const;

 private:
  void tell() const;

  std::function<void()> changed_;
  mutable std::mutex guard_;
  std::deque<step_values> batches_;
  loaded_state from_;
  bool ended_ = false;
  std::optional<error> cause_;
};

}  // namespace troupe
