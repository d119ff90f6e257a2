// The moving average of a candidate's AdaNet loss, of one value a tick.
#pragma once

#include "compute/kernels/elementary.hpp"

#include <troupe/error.hpp>

namespace troupe {

/// With decay d, b = `biased` and n = `count`, each value v changes
///
///   b := b - (b - v) (1 - d),   n := n + 1,   value := b / (1 - d^n)
///
/// in float32. The division removes the bias towards the initial 0, so the average of one value is that value. A graph
/// that computes this with the same operations in the same order gets the same bits.
struct loss_average {
  float value = 0;
  float biased = 0;
  int64_t count = 0;
  /// The average, made in the same way, of the regularization that is part of each value.
  float penalty = 0;

  /// `decay` is in [0, 1).
  void update(float v, float decay) {
    biased = biased - (biased - v) * (1 - decay);
    ++count;
    // The quotient for the first value may differ from it in the last bit.
    value = count == 1 ? v : biased / (1 - elementary::pow(decay, static_cast<float>(count)));
  }
  friend bool operator==(const loss_average&, const loss_average&) = default;
};

/// Error: invalid_argument for a decay outside of [0, 1).
inline expected<void> check_loss_decay(float decay) {
  if (decay >= 0 && decay < 1)
    return {};
  return fail(errc::invalid_argument, "adanet_loss_decay must be in [0, 1), not " + std::to_string(decay));
}

}  // namespace troupe
