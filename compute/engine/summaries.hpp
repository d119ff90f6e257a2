// From the tensors that a step recorded to the values that are kept: means, histograms, pictures.
#pragma once

#include <troupe/optimizer.hpp>
#include <troupe/summary.hpp>

namespace troupe {

/// What becomes of one recorded tensor.
struct summary_recipe {
  summary_value::kind what = summary_value::kind::scalar;
  std::string tag;
  std::string text;         ///< text: itself; nothing is recorded for it.
};

/// All that is recorded of a model that trains.
struct summary_recipes {
  std::vector<summary_recipe> all;  ///< The model's own, then a histogram for each trainable variable.
  std::optional<optimizer> by;      ///< Whose learning rate is shown.
};

/// The tensors of one step in the order of the recipes, one set a gradient shard. A tensor without elements is left out:
/// only the first set holds the variables, which all replicas have in common.
using recorded_sets = std::vector<std::vector<tensor>>;

/// Scalars: the mean over sets, by the fixed pairwise tree. Histograms: of all sets together. Images: of the first set,
/// one value each. Texts only when `first`. float32 and float64, images uint8 as well.
std::vector<summary_value> summarise(std::span<const summary_recipe> recipes, const recorded_sets& recorded, bool first);

/// TensorFlow's buckets: limits grow by a tenth from 1e-12 to 1e20 on both sides of 0.
histogram histogram_of(std::span<const tensor> parts);

/// The rate of the update that makes state `step`; of state 0, that of the first.
double learning_rate(const optimizer& o, int64_t step);

}  // namespace troupe
