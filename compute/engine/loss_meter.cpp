#include "compute/engine/loss_meter.hpp"

#include "compute/kernels/elementary.hpp"

#include <numbers>

namespace troupe {

double perplexity(double loss) { return elementary::exp(loss); }
double bits_per_character(double loss) { return loss / std::numbers::ln2; }

}  // namespace troupe
