// The board of a prediction as both launchers use it: batches wait here for whoever takes them.
#pragma once

#include "actors/prediction_board.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace troupe {

/// Holds no more batches than were asked for. Any thread.
class prediction_queue final : public prediction_board {
 public:
  void loaded(loaded_state from) override;
  void batch(step_values values) override;
  void ended(std::optional<error> cause) override;

  /// The next batch; nothing after the last one; the cause, after all batches before it. Absent where it is to be waited for.
  std::optional<expected<std::optional<step_values>>> take();
  /// Whether `take` has something to say before the deadline.
  bool wait(std::chrono::milliseconds deadline);
  /// `take` says `cancelled` from now on, and what was there is dropped; nothing changes once all was taken.
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
