// What is recorded of a model in training: its own summaries, and what is shown of every model.
#pragma once

#include "compute/engine/summaries.hpp"
#include "compute/graph/model_graph.hpp"

namespace troupe {

/// The variables whose histograms are recorded by default: trainable ones, unless the model itself records a summary of
/// that name.
std::vector<const variable_options*> shown_variables(const model_graph& of);

/// In the order in which a step records tensors; texts, for which it records none, are last. `first_step`: where the
/// group begins to train.
summary_recipes recipes_of(const model_graph& of, int64_t first_step);

}  // namespace troupe
