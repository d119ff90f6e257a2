#include "actors/chief/traces.hpp"

#include "words/need.hpp"

#include <algorithm>

namespace troupe {

/// The next trace; its `first` is INT64_MAX if there is none. Of those that begin together the longest.
traces::steps traces::next(int64_t from) const {
  steps found{INT64_MAX, INT64_MAX};
  for (const auto& n : needs_) {
    const int64_t first = next_beginning(n, from);
    int64_t end = 0;
    if (first == INT64_MAX || __builtin_add_overflow(first, n.steps, &end))
      end = INT64_MAX;
    if (first < found.first || (first == found.first && end > found.end))
      found = {first, end};
  }
  return found;
}

std::optional<traces::steps> traces::open(int64_t from, int64_t until) {
  if (now_)
    return std::nullopt;
  const auto found = next(from);
  if (found.first >= until)
    return std::nullopt;
  recorded_ = true;
  return now_ = found;
}

bool traces::complete(int64_t reached, std::optional<int64_t> end) const {
  return recorded_ && (reached >= now_->end || (end && reached >= *end));
}

traces::steps traces::close(int64_t reached) {
  recorded_ = false;
  now_->end = std::clamp(reached, now_->first, now_->end);
  return *now_;
}

int64_t traces::limit(int64_t until) const {
  const auto first = now_.value_or(next(until));
  return first.first == INT64_MAX ? INT64_MAX : next(std::max(first.end, until)).first;
}

}  // namespace troupe
