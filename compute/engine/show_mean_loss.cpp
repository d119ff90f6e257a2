#include "compute/engine/step_engine.hpp"

#include <algorithm>

namespace troupe {

void show_mean_loss(std::span<const program_output> outputs, double loss, std::vector<tensor>& values) {
  for (size_t i = 0; i < std::min(outputs.size(), values.size()); ++i)
    if (outputs[i].what == program_output::kind::loss)
      values[i] = outputs[i].type == dtype::float64 ? tensor::of<double>(outputs[i].dims, {loss})
                                                    : tensor::of<float>(outputs[i].dims, {static_cast<float>(loss)});
}

}  // namespace troupe
