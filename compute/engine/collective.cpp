#include "compute/engine/collective.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// 2^44 phases are a third as many steps: a million a second for two months, in one attempt. The rest are attempts.
constexpr int phase_bits = 44;

uint64_t attempt_of(uint64_t phase) { return phase >> phase_bits; }

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

expected<std::shared_ptr<collective>> collective::plan(std::shared_ptr<const parameter_layout> layout, int32_t replicas,
                                                       int64_t norm_chunks) {
  auto slices = gradient_reduction::plan_slices(layout, replicas);
  if (!slices)
    return fail(slices.error());
  std::shared_ptr<collective> made{new collective{replicas}};
  made->slices_ = std::move(*slices);
  made->squares_.resize(static_cast<size_t>(norm_chunks));
  made->total_ = made->slices_.front().total();
  return made;
}

void collective_seat::begin(int32_t attempt, std::any who) {
  leave();
  shared_->places_[replica_].who = std::move(who);
  phase_ = static_cast<uint64_t>(attempt) << phase_bits;
  turn_ = 0;
}

void collective_seat::leave() { shared_->places_[replica_].asleep.store(0); }

void collective_seat::gather(step_outcome made, tensor gradient) {
  turn_ = 1 - turn_;
  shared_->made_[turn_][replica_] = std::move(made);
  shared_->parts_[replica_] = std::move(gradient);
  come();
}

void collective_seat::sum(const std::function<void(gradient_view)>& measure) {
  auto& slice = shared_->slices_[replica_];
  slice.add(shared_->parts_);
  const bool finite = slice.is_finite();
  if (measure && finite)
    measure(slice.view());
  shared_->summed_[replica_] = finite;
  come();
}

void collective_seat::apply() { come(); }

void collective_seat::come() { shared_->places_[replica_].at.store(++phase_); }

bool collective_seat::all_at_phase() const {
  return std::all_of(shared_->places_.begin(), shared_->places_.end(), [this](const auto& place) {
    const auto at = place.at.load();
    return at >= phase_ && attempt_of(at) == attempt_of(phase_);
  });
}

bool collective_seat::all_here() {
  for (int32_t look = 0; look < looks_; ++look) {
    if (all_at_phase())
      return true;
    pause();
  }
  // First asleep, then another look: whoever comes last either is seen by it or sees the sleeper. Both hold in one
  // order of all these accesses, as they are sequentially consistent.
  auto& asleep = shared_->places_[replica_].asleep;
  asleep.store(phase_);
  if (!all_at_phase())
    return false;
  asleep.store(0);
  return true;
}

step_outcome collective_seat::summed(int64_t step) const {
  const auto& all = shared_->summed_;
  if (std::all_of(all.begin(), all.end(), [](uint8_t finite) { return finite != 0; }))
    return {};
  return not_finite_sum(shared_->slices_[replica_].layout(), shared_->parts_, total(), step);
}

}  // namespace troupe
