#include "words/activity.hpp"

#include <algorithm>
#include <numeric>

namespace troupe {

std::string_view to_string(wait_cause cause) noexcept {
  switch (cause) {
    case wait_cause::input: return "input";
    case wait_cause::peers: return "peers";
    case wait_cause::room: return "room";
    case wait_cause::arena: return "arena";
    case wait_cause::horizon: return "horizon";
  }
  return "unknown";
}

int64_t activity_counts::total_ns() const { return std::accumulate(waiting_ns.begin(), waiting_ns.end(), busy_ns); }

void activity::account(int64_t now_ns) {
  const int64_t passed = std::max<int64_t>(0, now_ns - since_);
  (works_ ? counts_.busy_ns : counts_.waiting_ns[static_cast<size_t>(cause_)]) += passed;
  since_ = std::max(since_, now_ns);
}

void activity::work(int64_t now_ns, int64_t bytes) {
  account(now_ns);
  works_ = true;
  ++counts_.messages;
  counts_.bytes += bytes;
}

void activity::wait(int64_t now_ns, wait_cause cause, int64_t queued) {
  account(now_ns);
  works_ = false;
  cause_ = cause;
  counts_.queued = queued;
  counts_.queued_max = std::max(counts_.queued_max, queued);
}

void activity::pause(int64_t now_ns, wait_cause cause) {
  account(now_ns);
  works_ = false;
  cause_ = cause;
}

void activity::go_on(int64_t now_ns) {
  account(now_ns);
  works_ = true;
}

activity_counts activity::counts(int64_t now_ns) const {
  activity copy = *this;
  copy.account(now_ns);
  return copy.counts_;
}

}  // namespace troupe
