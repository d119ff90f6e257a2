// Turns the tensors that a step recorded into summary values: means, histograms, images.
#pragma once

#include "words/step_values.hpp"

#include <troupe/optimizer.hpp>
#include <troupe/summary.hpp>

namespace troupe {

/// How one recorded tensor becomes summary values.
struct summary_recipe {
  summary_value::kind what = summary_value::kind::scalar;
  std::string tag;
  std::string text;  ///< The text itself, for kind text; no tensor is recorded for it.
};

/// Everything that is recorded of a model in training.
struct summary_recipes {
  std::vector<summary_recipe> all;  ///< The model's own summaries, then a histogram for each trainable variable.
  std::optional<optimizer> by;      ///< The optimizer whose learning rate is recorded.
  int64_t first_step = 0;           ///< The job's step from which that optimizer counts its steps.
};

/// The tensors of one step, one set for each gradient shard. Only the first set holds the variables, which all replicas
/// share. A recipe may have no tensor at all.
using recorded_sets = std::vector<std::vector<recorded_tensor>>;

/// The summary values of one step. Scalars: the mean over sets, by the fixed pairwise tree. Histograms: over all sets
/// together. Images: from the first set, one value per image. Texts: only when `first`. Dtypes: float32 and float64,
/// for images also uint8.
std::vector<summary_value> summarise(std::span<const summary_recipe> recipes, const recorded_sets& recorded,
                                     bool first);

/// TensorFlow's buckets: limits grow by a tenth from 1e-12 to 1e20 on both sides of 0.
histogram histogram_of(std::span<const tensor> parts);

/// The learning rate of the update that makes state `step`; for state 0, that of the first update.
double learning_rate(const optimizer& o, int64_t step);

}  // namespace troupe
