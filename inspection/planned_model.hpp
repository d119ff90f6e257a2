// A model's graph and program for the batches of a dataset, as one replica has them.
#pragma once

#include "compute/graph/model_graph.hpp"
#include "compute/program/program.hpp"

#include <troupe/dataset_iterator.hpp>
#include <troupe/estimator.hpp>

namespace troupe {

struct planned_model {
  std::shared_ptr<const model> source;
  std::unique_ptr<dataset_iterator> input;
  std::unique_ptr<model_graph> graph;
  parameter_layout layout;
  program_options size;                     ///< For how many rows, of how many gradient shards.
  std::unique_ptr<program> planned;
};
/// Whatever the model or the dataset has to say.
expected<planned_model> plan_model(const estimator& e, const dataset& input, mode m);

}  // namespace troupe
