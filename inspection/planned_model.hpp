// A model's graph and program for the batches of a dataset, as one replica has them.
#pragma once

#include "compute/graph/model_graph.hpp"
#include "compute/program/program.hpp"
#include "words/settled_config.hpp"

#include <troupe/dataset_iterator.hpp>
#include <troupe/estimator.hpp>

namespace troupe {

struct built_model {
  settled_config config;
  std::shared_ptr<const model> source;
  std::unique_ptr<dataset_iterator> input;
  std::unique_ptr<model_graph> graph;
};
/// Returns any error of the model or the dataset.
expected<built_model> build_model(const estimator& e, const dataset& input, mode m);

struct planned_model {
  std::shared_ptr<const model> source;
  std::unique_ptr<dataset_iterator> input;
  std::unique_ptr<model_graph> graph;
  parameter_layout layout;
  program_options size;  ///< The number of rows and of gradient shards.
  std::unique_ptr<program> planned;
};
expected<planned_model> plan_model(built_model from, mode m);
/// Builds the model and plans its program.
expected<planned_model> plan_model(const estimator& e, const dataset& input, mode m);

}  // namespace troupe
