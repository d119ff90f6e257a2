// The board of a prediction: a queue of batches for the consumer.
#pragma once

#include "actors/prediction_board.hpp"

#include <deque>
#include <functional>
#include <mutex>

namespace troupe {

/// Holds at most as many batches as the consumer has given credit for. Any thread may use it.
class prediction_queue final : public prediction_board {
 public:
  /// `changed` is called after each change that may affect `ready`, outside the queue's lock. It may be empty.
  explicit prediction_queue(std::function<void()> changed) : changed_(std::move(changed)) {}
  void loaded(loaded_state from) override;
  void batch(step_values values) override;
  void ended(std::optional<error> cause) override;

  /// Takes the next batch. Returns std::nullopt if there is nothing to take yet, an absent inner value after the last
  /// batch, and the cause of a failure after all batches before it.
  std::optional<expected<std::optional<step_values>>> take();
  /// Whether `take` would return something.
  bool ready() const;
  /// Drops all batches. From now on `take` returns the error `cancelled`. Has no effect after all batches and the end
  /// have arrived and been taken.
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
