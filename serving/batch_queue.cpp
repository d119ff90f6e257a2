#include "serving/batch_queue.hpp"

#include <algorithm>

namespace troupe {

bool batch_queue::push(uint64_t id, int64_t rows, time now) {
  if (requests() >= limits_.requests_max)
    return false;
  waiting_.push_back({id, rows, now});
  rows_ += rows;
  return true;
}

bool batch_queue::is_due(time now) const {
  return !waiting_.empty() && (rows_ >= limits_.rows_max || now - waiting_.front().since >= limits_.delay_max);
}

std::optional<batch_queue::time> batch_queue::due_at() const {
  if (waiting_.empty())
    return {};
  const auto since = waiting_.front().since;
  return rows_ >= limits_.rows_max ? since : since + limits_.delay_max;
}

std::vector<uint64_t> batch_queue::take() {
  std::vector<uint64_t> batch;
  // Reserved first: if memory runs out, no request has left the queue yet.
  batch.reserve(waiting_.size());
  int64_t rows = 0;
  while (!waiting_.empty() && (batch.empty() || rows + waiting_.front().rows <= limits_.rows_max)) {
    rows += waiting_.front().rows;
    batch.push_back(waiting_.front().id);
    waiting_.pop_front();
  }
  rows_ -= rows;
  return batch;
}

bool batch_queue::remove(uint64_t id) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [id](const request& r) { return r.id == id; });
  if (found == waiting_.end())
    return false;
  rows_ -= found->rows;
  waiting_.erase(found);
  return true;
}

std::optional<uint64_t> batch_queue::oldest() const {
  return waiting_.empty() ? std::nullopt : std::optional{waiting_.front().id};
}

}  // namespace troupe
