// Writes a graph for TensorBoard, as TensorFlow's GraphDef.
#include "storage/proto/graph.pb.h"

#include <troupe/inspect.hpp>

#include <charconv>

namespace troupe {

namespace {

/// TensorFlow's number for a dtype; 0 if it has none.
int32_t type_of(std::string_view dtype) {
  static constexpr std::pair<std::string_view, int32_t> types[] = {
      {"float32", 1}, {"float64", 2}, {"int32", 3}, {"uint8", 4}, {"int64", 9}, {"boolean", 10}, {"bool", 10}};
  for (const auto& [name, number] : types)
    if (name == dtype)
      return number;
  return 0;
}

/// The extents of a text such as "[batch, 10]"; an unknown extent becomes -1.
void add_extents(std::string_view text, proto::TensorShapeProto& into) {
  const size_t open = text.find('['), close = text.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos)
    return;
  text = text.substr(open + 1, close - open - 1);
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const auto one = text.substr(0, comma);
    int64_t extent = -1;
    const auto [end, failed] = std::from_chars(one.data(), one.data() + one.size(), extent);
    into.add_dim()->set_size(failed == std::errc{} && end == one.data() + one.size() ? extent : -1);
    text = text.substr(std::min(comma + 2, text.size()));
  }
}

}  // namespace

std::string to_graph_def(const graph_description& r) {
  constexpr int producer = 22;  // A version that every reader accepts.
  proto::GraphDef graph;
  graph.mutable_versions()->set_producer(producer);
  for (const auto& n : r.nodes) {
    auto& node = *graph.add_node();
    node.set_name(n.name);
    node.set_op(n.op);
    for (const auto& input : n.inputs)
      node.add_input(input);
    auto& attributes = *node.mutable_attr();
    attributes["dtype"].set_type(type_of(n.dtype));
    add_extents(n.shape, *attributes["_output_shapes"].mutable_list()->add_shape());
  }
  return graph.SerializeAsString();
}

}  // namespace troupe
