// What an actor does with its time: it works, or it waits for something that has a name. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

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

  int64_t waiting_for(wait_cause cause) const { return waiting_ns[static_cast<size_t>(cause)]; }
  int64_t total_ns() const;
  friend bool operator==(const activity_counts&, const activity_counts&) = default;
};

/// Kept by an actor. Times are nanoseconds of its clock, which never goes back. Each time belongs to work or to one
/// cause, so that all of them add up to the time since the start. One thread.
class activity {
 public:
  /// The actor is started, and waits for a grant.
  explicit activity(int64_t now_ns = 0) : since_(now_ns) {}
  /// A message that brings `bytes` of tensors begins to be handled.
  void work(int64_t now_ns, int64_t bytes = 0);
  /// It has been handled. `queued`: see activity_counts.
  void wait(int64_t now_ns, wait_cause cause, int64_t queued = 0);
  /// The handler itself waits, and then goes on with its message.
  void pause(int64_t now_ns, wait_cause cause);
  void go_on(int64_t now_ns);
  activity_counts counts(int64_t now_ns) const;

 private:
  void account(int64_t now_ns);

  activity_counts counts_;
  int64_t since_ = 0;  ///< When the current work or wait began.
  bool works_ = false;
  wait_cause cause_ = wait_cause::horizon;
};

}  // namespace troupe
