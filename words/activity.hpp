// What an actor does with its time: it works, or it waits for something that has a name. Plain data.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

namespace troupe {

/// For what an actor waits that is not at work.
enum class wait_cause : uint8_t {
  input,    ///< Work: batches, gradients, reports, parts of a snapshot, facts.
  peers,    ///< The other replicas, in the reduction of a step.
  room,     ///< Credit of a receiver.
  arena,    ///< Memory that a snapshot holds.
  horizon,  ///< A grant; also before an attempt begins and after it has ended.
};
inline constexpr size_t wait_causes = 5;
std::string_view to_string(wait_cause cause) noexcept;

/// Counts from the start of an actor, or of a part of its time.
struct activity_counts {
  int64_t busy_ns = 0;                               ///< In handlers of messages.
  std::array<int64_t, wait_causes> waiting_ns = {};  ///< Between them, by cause.
  int64_t messages = 0;                              ///< Handled.
  int64_t bytes = 0;                                 ///< Of tensors in these messages.
  int64_t queued = 0;                                ///< What has arrived and is not used yet, such as batches.
  int64_t queued_max = 0;                            ///< The most since the start.
  int64_t mailbox = 0;                               ///< Messages that waited behind the last one handled.
  int64_t mailbox_max = 0;                           ///< The most since the start.

  int64_t waiting_for(wait_cause cause) const { return waiting_ns[static_cast<size_t>(cause)]; }
  int64_t total_ns() const;
  friend bool operator==(const activity_counts&, const activity_counts&) = default;
};

/// A part of an actor's time: work on one message, or a wait.
struct activity_span {
  int64_t begin_ns = 0, end_ns = 0;
  int64_t step = -1;                       ///< The step at hand; -1: none.
  bool works = true;                       ///< Else it waits for `cause`.
  uint16_t message = 0;                    ///< Of work: an index of `activity_recording::messages`.
  wait_cause cause = wait_cause::horizon;  ///< Of a wait.
  friend bool operator==(const activity_span&, const activity_span&) = default;
};
/// The spans of a trace in their order, without those of no length.
struct activity_recording {
  std::vector<std::string> messages = {};  ///< The names of the types of messages that were worked on: "block".
  std::vector<activity_span> spans = {};
  int64_t left_out = 0;  ///< How many came after them for which there was no room.
  friend bool operator==(const activity_recording&, const activity_recording&) = default;
};

/// Kept by an actor. Times are nanoseconds of its clock, which never goes back. Each time belongs to work or to one
/// cause, so that all of them add up to the time since the start. One thread.
class activity {
 public:
  /// The actor is started, and waits for a grant.
  explicit activity(int64_t now_ns = 0) : since_(now_ns) {}
  /// A message of type `message` that brings `bytes` of tensors begins to be handled, and `mailbox` more wait.
  void work(int64_t now_ns, int64_t bytes = 0, const std::type_info& message = typeid(void), int64_t mailbox = 0);
  /// It has been handled. `queued`: see activity_counts.
  void wait(int64_t now_ns, wait_cause cause, int64_t queued = 0);
  /// The handler itself waits, and then goes on with its message.
  void pause(int64_t now_ns, wait_cause cause);
  void go_on(int64_t now_ns);
  activity_counts counts(int64_t now_ns) const;

  /// Records spans from here on, at most `spans_max`; of those with a step only those of steps [first, end].
  void record(int64_t now_ns, size_t spans_max, int64_t first, int64_t end);
  bool records() const noexcept { return spans_max_ > 0; }
  /// What follows is of this step; a span that is being recorded is cut.
  void at_step(int64_t now_ns, int64_t step);
  /// Ends the recording, and returns it.
  activity_recording recorded(int64_t now_ns);

 private:
  void account(int64_t now_ns);
  void record_span(int64_t now_ns);
  int64_t passed(int64_t now_ns) const { return std::max<int64_t>(0, now_ns - since_); }

  activity_counts counts_;
  int64_t since_ = 0;  ///< When the current work or wait began.
  bool works_ = false;
  wait_cause cause_ = wait_cause::horizon;
  const std::type_info* message_ = &typeid(void);
  int64_t step_ = -1;
  size_t spans_max_ = 0;  ///< 0: nothing is recorded.
  int64_t first_ = 0, end_ = 0;
  activity_recording recording_;
  std::vector<const std::type_info*> messages_;  ///< Those of the recording.
};

}  // namespace troupe
