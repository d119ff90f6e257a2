#include "actors/waits.hpp"

#include <algorithm>

namespace troupe {

std::chrono::milliseconds waits::period_for(std::initializer_list<nanoseconds> patiences) {
  const auto eighth = std::chrono::duration_cast<std::chrono::milliseconds>(std::min(patiences) / 8);
  return std::clamp(eighth, std::chrono::milliseconds{1}, std::chrono::milliseconds{250});
}

waits::waits(int32_t kinds, std::chrono::milliseconds period) : all_(static_cast<size_t>(kinds)), period_(period) {}

void waits::arm(int32_t kind, nanoseconds patience, bool in_pause) {
  auto& w = all_[static_cast<size_t>(kind)];
  w = {true, false, in_pause, w.number + 1, patience};
}

void waits::disarm(int32_t kind) { all_[static_cast<size_t>(kind)].armed = false; }

void waits::disarm_all() {
  for (auto& w : all_)
    w.armed = false;
}

bool waits::any(bool paused) const {
  return std::any_of(all_.begin(), all_.end(), [paused](const wait& w) { return w.armed && (w.in_pause || !paused); });
}

std::vector<waits::due_wait> waits::pass(nanoseconds elapsed, bool paused) {
  elapsed = std::min(elapsed, nanoseconds{2 * period_});
  std::vector<due_wait> due;
  for (size_t k = 0; k < all_.size(); ++k) {
    auto& w = all_[k];
    if (!w.armed || w.told || (paused && !w.in_pause))
      continue;
    w.left -= elapsed;
    if (w.left > nanoseconds{0})
      continue;
    w.told = true;
    due.push_back({static_cast<int32_t>(k), w.number});
  }
  return due;
}

bool waits::expires(int32_t kind, uint64_t number) {
  auto& w = all_[static_cast<size_t>(kind)];
  if (!w.armed || w.number != number)
    return false;
  w.armed = false;
  return true;
}

}  // namespace troupe
