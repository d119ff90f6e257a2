#include "words/activity.hpp"

#include "words/guarded.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

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
  const int64_t time = passed(now_ns);
  (works_ ? counts_.busy_ns : counts_.waiting_ns[static_cast<size_t>(cause_)]) += time;
  if (records() && time > 0)
    record_span(now_ns);
  since_ = std::max(since_, now_ns);
}

void activity::record_span(int64_t now_ns) {
  if (step_ >= 0 && (step_ < first_ || step_ > end_))
    return;
  if (recording_.spans.size() == spans_max_) {
    ++recording_.left_out;
    return;
  }
  activity_span s{.begin_ns = since_, .end_ns = now_ns, .step = step_, .works = works_};
  if (works_) {
    const auto known = std::find(messages_.begin(), messages_.end(), message_);
    s.message = static_cast<uint16_t>(known - messages_.begin());
    if (known == messages_.end())
      messages_.push_back(message_);
  } else {
    s.cause = cause_;
  }
  recording_.spans.push_back(s);
}

void activity::work(int64_t now_ns, int64_t bytes, const std::type_info& message, int64_t mailbox) {
  account(now_ns);
  works_ = true;
  message_ = &message;
  ++counts_.messages;
  counts_.bytes += bytes;
  counts_.mailbox = mailbox;
  counts_.mailbox_max = std::max(counts_.mailbox_max, mailbox);
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
  auto now = counts_;
  (works_ ? now.busy_ns : now.waiting_ns[static_cast<size_t>(cause_)]) += passed(now_ns);
  return now;
}

void activity::record(int64_t now_ns, size_t spans_max, int64_t first, int64_t end) {
  spans_max_ = 0;
  account(now_ns);
  step_ = -1;  // That of an earlier recording.
  first_ = first, end_ = end;
  recording_ = {};
  messages_.clear();
  recording_.spans.reserve(std::min<size_t>(spans_max, 1'024));
  spans_max_ = spans_max;
}

void activity::at_step(int64_t now_ns, int64_t step) {
  if (step == step_)
    return;
  account(now_ns);
  step_ = step;
}

activity_recording activity::recorded(int64_t now_ns) {
  account(now_ns);
  spans_max_ = 0;
  for (const auto* type : messages_) {
    const auto name = type_name(*type);
    recording_.messages.push_back(name.starts_with("troupe::") ? name.substr(8) : name);
  }
  messages_.clear();
  return std::exchange(recording_, {});
}

}  // namespace troupe
