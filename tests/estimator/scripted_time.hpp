// Time that a test moves by hand.
#pragma once

#include "estimator/commit_follower.hpp"

#include <functional>
#include <map>
#include <vector>

namespace troupe::test {

/// Time that passes where the follower waits, and what happens at some of its moments.
struct scripted_time final : follower_time {
  std::chrono::nanoseconds at{0};
  std::multimap<std::chrono::nanoseconds, std::function<void()>> events;
  std::vector<std::chrono::milliseconds> waits;

  std::chrono::nanoseconds now() override { return at; }
  void wait(directory_watch* changes, std::chrono::milliseconds patience) override {
    waits.push_back(patience);
    const auto until = at + patience;
    while (!events.empty() && events.begin()->first <= until) {
      at = std::max(at, events.begin()->first);
      const auto happens = std::move(events.begin()->second);
      events.erase(events.begin());
      happens();
      if (changes && changes->changed(std::chrono::milliseconds{0}))
        return;
    }
    at = until;
  }
};

}  // namespace troupe::test
