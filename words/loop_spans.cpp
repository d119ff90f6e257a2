#include "words/loop_spans.hpp"

#include <algorithm>

namespace troupe {

loop_span loop_spans::at(int64_t step) const {
  const auto found = std::find_if(all_.rbegin(), all_.rend(), [step](const loop_span& l) { return l.begins <= step; });
  return found != all_.rend() ? *found : all_.empty() ? loop_span{} : all_.front();
}

void loop_spans::forget(int64_t step) {
  const auto after = std::find_if(all_.begin(), all_.end(), [step](const loop_span& l) { return l.begins > step; });
  if (after - all_.begin() > 1)
    all_.erase(all_.begin(), after - 1);
}

}  // namespace troupe
