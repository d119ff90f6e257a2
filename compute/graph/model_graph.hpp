// The graph that a model function builds for one structure of elements and one mode.
#pragma once

#include <troupe/dataset.hpp>
#include <troupe/model.hpp>

namespace troupe {

/// Inputs are placeholders named after the components, with the unknown "batch" as an additional first axis.
struct model_graph {
  graph g;
  model_spec spec;
  mode what = mode::train;
  std::map<std::string, host_call_function> host_calls = {};  ///< One for each host call of the graph, at least.
};

/// Calls the model function; returns the first error that the graph keeps.
expected<std::unique_ptr<model_graph>> build_graph(const model& source, const element_spec& element, mode m);

}  // namespace troupe
