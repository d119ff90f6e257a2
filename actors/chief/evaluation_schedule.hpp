// The schedule of one evaluation: which checkpoint its evaluator evaluates next, and when. Plain data.
#pragma once

#include "messages/evaluation.hpp"
#include "messages/summary.hpp"

#include <chrono>

namespace troupe {

/// Allows one evaluation at a time. Only the newest checkpoint waits; it supersedes an older one.
class evaluation_schedule {
 public:
  using nanoseconds = std::chrono::nanoseconds;
  explicit evaluation_schedule(double throttle_secs = 600, double start_delay_secs = 0, int64_t least_steps = 0)
    : throttle_secs_(throttle_secs), start_delay_secs_(start_delay_secs), least_steps_(least_steps) {}

  /// Training goes on from this checkpoint: forgets an evaluation of a later step, whose state is made again.
  void begin_at(checkpoint_id id) {
    if (last_ && last_->step > id.step)
      last_.reset();
  }
  /// Adds a checkpoint that may be evaluated. Returns the checkpoint that it supersedes, whose lease ends.
  std::optional<checkpoint_id> offer(checkpoint_id id);
  std::optional<checkpoint_id> waiting() const noexcept { return waiting_; }
  std::optional<checkpoint_id> running() const noexcept { return running_; }
  /// The newest checkpoint whose evaluation has ended, with or without an error.
  std::optional<checkpoint_id> last() const noexcept { return last_; }
  /// Whether that checkpoint waits, is being evaluated or is being exported.
  bool concern(checkpoint_id id) const noexcept { return waiting_ == id || running_ == id || exporting_ == id; }
  /// No checkpoint waits, and neither an evaluation nor an exporter runs.
  bool idle() const noexcept { return !waiting_ && !running_ && !exporting_; }

  enum class next : uint8_t {
    nothing,  ///< An evaluation or an exporter runs, or no checkpoint waits.
    skip,     ///< It is too soon or too near the last one, or there is no evaluator: the waiting checkpoint is dropped.
    need_room,  ///< The event file has no room for the results yet.
    begin,
  };
  struct situation {
    nanoseconds now{};        ///< Since the job started.
    bool possible = true;     ///< There is an evaluator, and the job was not stopped by a signal.
    bool at_the_end = false;  ///< The waiting checkpoint is the job's last, which is not throttled.
    bool recorded = false;    ///< Results go to an event file.
  };
  next decide(const situation& s) const;
  /// When the next evaluation may begin, by the start delay and the throttle; 0: at once.
  nanoseconds due() const;
  /// The evaluation of the waiting checkpoint begins.
  void begin(nanoseconds now);
  /// Begins a check: some batches are evaluated before training begins. Nothing else in the schedule changes.
  void check(checkpoint_id id) { running_ = id, checks_ = true; }
  bool checks() const noexcept { return checks_; }
  /// Begins an evaluation that was demanded, whatever the schedule says.
  void demand(checkpoint_id id) { running_ = id; }
  /// Begins the evaluation of a state without a checkpoint. The evaluator is asked once it has the state and there is
  /// room for the result.
  void show(checkpoint_id state) { running_ = state, shows_ = true, asked_ = false; }
  bool shows() const noexcept { return shows_; }
  /// Whether the evaluator may be asked for the result; true only once.
  bool may_ask(bool recorded);
  bool is_asked() const noexcept { return asked_; }
  /// Begins the exporters on an evaluated checkpoint, which `end_export` returns.
  void begin_export(checkpoint_id id) { exporting_ = id; }
  bool exports() const noexcept { return exporting_.has_value(); }
  std::optional<checkpoint_id> end_export() { return std::exchange(exporting_, std::nullopt); }
  /// `batches` of the evaluation of `id` are done.
  void reach(checkpoint_id id, int64_t batches) {
    if (running_ == id)
      batches_ = std::max(batches_, batches);
  }
  int64_t batches() const noexcept { return batches_; }  ///< Of the running evaluation, as last reported.
  /// The waiting checkpoint will not be evaluated.
  void drop_waiting() { waiting_.reset(); }
  /// The running evaluation has ended. Returns its checkpoint; absent: none was running.
  std::optional<checkpoint_id> end();
  /// Its evaluation was in vain: it may be evaluated again.
  void forget(checkpoint_id id) {
    if (last_ == id)
      last_.reset();
  }
  /// The results of this checkpoint are known from an earlier run.
  void recall(checkpoint_id id) { last_ = id; }
  /// Whether the results of `id` are known, or will be without another evaluation because its state was shown before it
  /// was saved.
  bool has_seen(checkpoint_id id) const noexcept { return last_ == id || (shows_ && running_ == id); }
  /// The evaluator is lost. Returns the checkpoint of the running evaluation, whose outcome is unknown.
  std::optional<checkpoint_id> lose() {
    checks_ = shows_ = false;
    batches_ = 0;
    return std::exchange(running_, std::nullopt);
  }
  /// After a stop by signal: whether to cancel the running evaluation; true only once.
  bool cancel() { return running_ && !std::exchange(cancelled_, true); }
  bool cancelled() const noexcept { return cancelled_; }

  /// The number for a record; each evaluation sends two records on the summary writer's credit.
  int64_t number_record() { return records_++; }
  void set_record_credit(int64_t number) { record_credit_ = std::max(record_credit_, number); }

 private:
  double throttle_secs_, start_delay_secs_;
  int64_t least_steps_;  ///< From the last evaluated checkpoint to the next.
  std::optional<checkpoint_id> waiting_, running_, last_, exporting_;
  std::optional<nanoseconds> began_;  ///< When the newest evaluation began.
  bool cancelled_ = false, checks_ = false, shows_ = false, asked_ = false;
  int64_t batches_ = 0;
  int64_t records_ = 0;
  int64_t record_credit_ = initial_record_credit;
};

}  // namespace troupe
