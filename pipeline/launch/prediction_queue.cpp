#include "pipeline/launch/prediction_queue.hpp"

#include <utility>

namespace troupe {

void prediction_queue::tell() const {
  if (changed_)
    changed_();
}

void prediction_queue::loaded(loaded_state from) {
  std::lock_guard lock{guard_};
  from_ = std::move(from);
}

void prediction_queue::batch(step_values values) {
  {
    std::lock_guard lock{guard_};
    if (ended_)
      return;
    batches_.push_back(std::move(values));
  }
  tell();
}

void prediction_queue::ended(std::optional<error> cause) {
  {
    std::lock_guard lock{guard_};
    if (std::exchange(ended_, true))
      return;
    cause_ = std::move(cause);
  }
  tell();
}

std::optional<expected<std::optional<step_values>>> prediction_queue::take() {
  std::lock_guard lock{guard_};
  if (!batches_.empty()) {
    auto first = std::move(batches_.front());
    batches_.pop_front();
    return std::optional{std::move(first)};
  }
  if (!ended_)
    return std::nullopt;
  if (cause_)
    return expected<std::optional<step_values>>{fail(*cause_)};
  return expected<std::optional<step_values>>{std::optional<step_values>{}};
}

bool prediction_queue::ready() const {
  std::lock_guard lock{guard_};
  return ended_ || !batches_.empty();
}

void prediction_queue::cancel() {
  {
    std::lock_guard lock{guard_};
    if (ended_ && batches_.empty())
      return;
    batches_.clear();
    ended_ = true;
    cause_ = error{errc::cancelled, "the prediction was cancelled"};
  }
  tell();
}

loaded_state prediction_queue::from() const {
  std::lock_guard lock{guard_};
  return from_;
}

}  // namespace troupe
