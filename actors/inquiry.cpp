#include "actors/inquiry.hpp"

#include <algorithm>

namespace troupe {

uint64_t inquiry::begin(std::vector<std::string> asked) {
  asked_ = std::move(asked);
  answers_.clear();
  return number_ += inquiries_max;
}

bool inquiry::on(const standing& x) {
  if (x.number % inquiries_max == number_ % inquiries_max)
    owing_.erase(x.who);
  if (x.number != number_ || std::find(asked_.begin(), asked_.end(), x.who) == asked_.end())
    return false;
  answers_[x.who] = x;
  asked_.insert(asked_.end(), x.asked.begin(), x.asked.end());
  return answers_.size() == asked_.size();
}

std::string inquiry::text() const {
  std::string all;
  for (const auto& who : asked_)
    if (!answers_.contains(who))
      all += (all.empty() ? "" : "; ") + who + " does not answer";
  for (const auto& who : asked_)
    if (const auto a = answers_.find(who); a != answers_.end()) {
      all += (all.empty() ? "" : "; ") + who + ":";
      for (size_t i = 0; i < a->second.counts.size(); ++i)
        all += (i ? ", " : " ") + a->second.counts[i].first + " " + std::to_string(a->second.counts[i].second);
    }
  return all;
}

}  // namespace troupe
