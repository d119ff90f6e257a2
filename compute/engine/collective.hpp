// Where the replicas of a group in one process meet in each step, so that no message carries a gradient.
//
//   replica r:  gather ──────────► sum ───────────────────► apply ─────────► step + 1
//               what it computed   slice r of all parts,    slice r of the
//                                  checked and measured     update
//
// A retired group gathers and does nothing else: gather ► step + 1.
//
// A phase is over when all replicas are there. Nothing here waits: a replica looks for a short time, then goes to
// sleep, which is to return to its mailbox, and whoever sees the phase over is told whom to wake. Halts, stops and
// deaths therefore reach it as ever, and a simulation runs the same code.
#pragma once

#include "compute/engine/gradient_reduction.hpp"
#include "compute/engine/step_outcome.hpp"

#include <any>
#include <atomic>
#include <functional>

namespace troupe {

/// Data and atomics that the replicas of a group share.
class collective {
 public:
  /// `norm_chunks`: as the engines say. resource_exhausted: there is no memory for the sum.
  static expected<std::shared_ptr<collective>> plan(std::shared_ptr<const parameter_layout> layout, int32_t replicas,
                                                    int64_t norm_chunks = 0);

  int32_t replicas() const noexcept { return static_cast<int32_t>(places_.size()); }
  /// The sums of squares of a step's gradient (`step_engine::share_squares`), which live as long as this.
  std::span<double> squares() noexcept { return squares_; }

 private:
  friend class collective_seat;
  /// Each has cache lines of its own, as one replica writes it and the others look.
  struct alignas(128) place {
    std::atomic<uint64_t> at{0};      ///< The last phase to which the replica has come, with its attempt.
    std::atomic<uint64_t> asleep{0};  ///< The phase for which it sleeps; 0: it does not.
    std::any who = {};                ///< How it is woken.
  };

  explicit collective(int32_t replicas)
    : places_(static_cast<size_t>(replicas)), summed_(places_.size()), parts_(places_.size()) {
    for (auto& of_step : made_)
      of_step.resize(places_.size());
  }

  std::vector<place> places_;
  // By replica, which writes its own before it comes to the phase; the others read them when the phase is over. None
  // is written again before a phase that all come to after they have read it.
  std::vector<step_outcome> made_[2];  ///< Of steps in turn: a retired group has no other phase between two of them.
  std::vector<uint8_t> summed_;        ///< Whether its slice of the sum is finite.
  std::vector<tensor> parts_;
  std::vector<gradient_reduction> slices_;
  std::vector<double> squares_;  ///< Each is written by the replica in whose slice its chunk begins.
  tensor total_;
};

/// One replica's part in a collective. Used by its thread only.
class collective_seat {
 public:
  /// `looks` is how often the replica looks before it sleeps, at least once: some 40 ns each, on a processor that
  /// others may need.
  collective_seat(std::shared_ptr<collective> shared, int32_t replica, int32_t looks = 1)
    : shared_(std::move(shared)), replica_(static_cast<size_t>(replica)), looks_(looks) {}

  /// An attempt begins, above all earlier ones. No replica may be in a step of an earlier attempt. `who` says how this
  /// replica is woken: what `wake_sleepers` of the others passes on.
  void begin(int32_t attempt, std::any who);
  /// The attempt is over for this replica, which no longer wants to be woken.
  void leave();

  /// Comes to the phase `gathered` of a step. `gradient` is that of the whole layout, shared until the next step, and
  /// is not read unless the status is ok, nor if the group has retired, which goes on to gather the next step.
  void gather(step_outcome made, tensor gradient);
  /// In `gathered`, once all are there and all are well: adds this replica's slice, lets `measure` read it if it is
  /// finite, and comes to the phase `summed`.
  void sum(const std::function<void(gradient_view)>& measure = {});
  /// In `summed`, once all are there and the sum is finite, when this replica has applied its slice: comes to
  /// `applied`.
  void apply();

  /// Whether all replicas are at this phase, or past it. If not, this replica sleeps: whoever comes last is told to
  /// wake it.
  bool all_here();
  /// Once all are here: calls wake(who) for each replica that sleeps and was not told to anybody else.
  template <class F>
  void wake_sleepers(F wake) {
    for (size_t r = 0; r < shared_->places_.size(); ++r) {
      auto& place = shared_->places_[r];
      auto phase = place.asleep.load();
      if (r != replica_ && phase == phase_ && place.asleep.compare_exchange_strong(phase, 0))
        wake(static_cast<const std::any&>(place.who));
    }
  }

  /// Once all have gathered: the outcome for all.
  step_outcome gathered() const { return joined(shared_->made_[turn_]); }
  /// Once all slices are added: whether all are finite, and why not.
  step_outcome summed(int64_t step) const;
  /// The sum over all replicas, until they gather again.
  const tensor& total() const { return shared_->total_; }

 private:
  void come();
  bool all_at_phase() const;

  std::shared_ptr<collective> shared_;
  size_t replica_;
  int32_t looks_;
  size_t turn_ = 0;     ///< The number of steps of this attempt that were gathered, modulo 2: the same for all.
  uint64_t phase_ = 0;  ///< Of this replica: the attempt in the upper bits, phases since its beginning in the lower.
};

}  // namespace troupe
