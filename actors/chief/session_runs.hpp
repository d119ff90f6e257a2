// The runs of a session: the gate that its caller moves, and how far the call at hand has come. Plain data.
//
//   opening ──it trains──► idle ──a call──► asked ──► preparing ──answered──► running ──reached──► closing
//                           ▲                 │     (before_run)                             (after_run) │
//                           │                 ├──► saving ──committed─────────────►│                    │
//                           │                 └──► renewing ──another attempt─────►│                    │
//                           └──────────────────────────────────────────────────────┴────────────────────┘
//
// An attempt that fails takes `preparing`, `running` and `saving` back to `asked`, unless the run has passed the state
// at which the next attempt begins: it goes on to its end.
#pragma once

#include "messages/report.hpp"
#include "messages/session.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace troupe {

class session_runs {
 public:
  enum class stage : uint8_t {
    off,        ///< The job is no session.
    opening,    ///< Until the job trains for the first time.
    idle,       ///< The caller holds the job.
    asked,      ///< Nothing was done yet about the call.
    preparing,  ///< Hooks are asked what they want of the run.
    running,    ///< The gate has moved.
    closing,    ///< Hooks are told of the run.
    saving,
    renewing,  ///< The attempt was made to fail.
    over,      ///< The caller knows that the job ends: nobody holds it any more.
  };

  void open() { at_ = stage::opening; }
  bool on() const noexcept { return at_ != stage::off; }
  stage at() const noexcept { return at_; }
  const run_until& call() const noexcept { return call_; }
  int64_t begins() const noexcept { return begins_; }
  /// The state at which the run ends, unless the job does.
  int64_t until() const noexcept {
    int64_t end = 0;
    return __builtin_add_overflow(begins_, call_.count, &end) ? INT64_MAX : end;
  }
  /// The first state that no node may pass.
  int64_t limit() const noexcept {
    return !on() || at_ == stage::over ? INT64_MAX
           : at_ == stage::running     ? until()
           : at_ == stage::closing     ? ended_at_
                                       : begins_;
  }

  /// The caller asks for something. One that was received already, or comes before the last call has ended, is dropped.
  void asks(const run_until& x) {
    if (at_ != stage::idle || x.number <= call_.number)
      return;
    call_ = x;
    at_ = stage::asked;
    unnoticed_ = x.first ? recoveries_ : 0;
  }
  /// The hooks are asked by that fact.
  void prepare(uint64_t fact) { at_ = stage::preparing, fact_ = fact, fetches_ = call_.fetches; }
  void answered(uint64_t fact, fetch_kinds hooks_want) {
    if (at_ == stage::preparing && fact == fact_)
      fetches_ |= hooks_want, fact_ = 0;
  }
  bool is_prepared() const noexcept { return at_ == stage::preparing && fact_ == 0; }
  void run() {
    if (at_ == stage::asked)
      fetches_ = call_.fetches;
    at_ = stage::running;
    forget_values();
  }
  void save() { at_ = stage::saving; }
  void renew() { at_ = stage::renewing; }
  /// The run has ended at that state; hooks are told.
  void close(int64_t step) { at_ = stage::closing, ended_at_ = step; }
  int64_t ended_at() const noexcept { return ended_at_; }

  // -- work beside the runs
  /// Whether a run or a save is under way that ends in a later attempt if this one fails, so that its caller can be
  /// asked for something meanwhile.
  bool has_caller() const noexcept {
    const bool waits = at_ == stage::asked || at_ == stage::preparing || at_ == stage::running || at_ == stage::saving;
    return waits && call_.what != run_until::renew;
  }
  /// It has failed: the caller is to begin it anew before another attempt begins.
  void preempted() { beside_ = beside::failed; }
  /// The job recovers. Returns whether the caller is to be told.
  bool asks_caller() {
    if (beside_ != beside::failed)
      return false;
    beside_ = beside::awaited;
    return true;
  }
  bool awaits_caller() const noexcept { return beside_ == beside::awaited; }
  void begun_anew(uint64_t number) {
    if (number == call_.number)
      beside_ = beside::works;
  }

  // -- values
  fetch_kinds fetches() const noexcept { return fetches_; }
  /// Whether a mark for the values of the run's last step is to be placed.
  bool wants_mark() const noexcept { return at_ == stage::running && fetches_ != 0 && !marked_; }
  void marked(int64_t step) {
    marked_ = step;
    if (told_ && told_->step == step)
      values_ = told_;  // Replicas tell a state once: these were told for hooks.
  }
  /// States above `step` will not be reached.
  void cut_at(int64_t step) {
    if (marked_.value_or(step) > step)
      marked_.reset();
  }
  void watched(const step_values& x) {
    told_ = x;
    if (at_ == stage::running && marked_ == x.step)
      values_ = x;
  }
  bool awaits_values() const noexcept { return marked_ && !values_; }
  /// Whether these are the values of state `step`. Not known before their mark is placed where the run ends earlier.
  bool awaits_values_of(int64_t step) const noexcept {
    return at_ == stage::running && fetches_ != 0 && !values_ && step == marked_.value_or(until());
  }
  const std::optional<step_values>& values() const noexcept { return values_; }
  std::map<std::string, double> metrics = {};  ///< Of training, from the newest progress.

  // -- attempts
  /// An attempt trains from `step` on; not while a run is `closing`. Returns true if that is the end of what was asked
  /// for: the session is open, or has another attempt.
  bool begin_attempt(int64_t step) {
    // A run whose last state was saved ends there, with the values that were told before.
    const bool keeps = at_ == stage::running && call_.repeats && values_ && marked_ == step;
    if (!keeps) {
      forget_values();
      told_.reset();
      metrics.clear();
    }
    if (at_ == stage::over)
      return false;
    if (at_ == stage::opening) {
      begins_ = step;
      return true;
    }
    ++recoveries_;
    if (at_ == stage::running && step > begins_ && call_.repeats)
      return false;
    taken_back_ += std::max<int64_t>(begins_ - step, 0);
    begins_ = step;
    if (at_ == stage::preparing || at_ == stage::running || at_ == stage::saving)
      at_ = stage::asked;
    return at_ == stage::renewing;
  }
  /// Whether the job has gone to another attempt since the last end, and the run that was asked for is not to be made
  /// there.
  bool is_interrupted() const noexcept { return at_ == stage::asked && !call_.repeats && recoveries_ > unnoticed_; }
  /// The call at hand has ended where the job stands at `step`. Returns the steps that were taken back and the
  /// recoveries since the last end.
  std::pair<int64_t, int64_t> end(int64_t step) {
    at_ = stage::idle;
    begins_ = step;
    return {std::exchange(taken_back_, 0), std::exchange(recoveries_, 0)};
  }
  /// The caller was told that no run follows.
  void release() { at_ = stage::over; }

 private:
  void forget_values() { marked_.reset(), values_.reset(); }

  enum class beside : uint8_t { works, failed, awaited };

  stage at_ = stage::off;
  run_until call_ = {};
  int64_t begins_ = 0;  ///< Where the run begins; between runs, where the job stands.
  int64_t ended_at_ = 0;
  beside beside_ = beside::works;
  int64_t taken_back_ = 0, recoveries_ = 0;
  int64_t unnoticed_ = 0;  ///< Of those recoveries: before a call that they do not concern.
  uint64_t fact_ = 0;
  fetch_kinds fetches_ = 0;
  std::optional<int64_t> marked_;             ///< The state whose values are reported.
  std::optional<step_values> values_, told_;  ///< Those of the run's last step; the newest that were told.
};

}  // namespace troupe
