// An ONNX graph under construction: each node of a stored graph becomes one or a few ONNX nodes.
#pragma once

#include "storage/proto/onnx.pb.h"
#include "words/stored_graph.hpp"

namespace troupe {

inline constexpr int64_t onnx_opset = 17, onnx_ir_version = 8;

/// The name of a value in the ONNX graph.
using onnx_value = std::string;

class onnx_graph {
 public:
  onnx_graph(proto::OnnxGraph& to, const stored_graph& from) : to_(to), from_(from), values_(from.nodes.size()) {}

  /// Adds all nodes, with placeholders as inputs. The caller adds the variables and constants afterwards.
  /// unimplemented, naming the node.
  expected<void> add_nodes();
  /// Makes the value of node `i` an output with this name.
  void add_output(size_t i, const std::string& name);
  /// The tensors that nodes read: from the name of the tensor to that of its ONNX value.
  const std::map<std::string, onnx_value>& tensors() const noexcept { return tensors_; }
  /// Small tensors that the nodes need in addition to those of the model, in the order of the numbers in their names.
  const std::vector<std::pair<onnx_value, tensor>>& constants() const noexcept { return constants_; }

  // -- for the twins of operations ---------------------------------------------------

  /// Adds a node with one output and returns the name of that output.
  onnx_value emit(std::string_view op, const std::vector<onnx_value>& inputs);
  void set(std::string_view name, int64_t value);
  void set(std::string_view name, double value);
  void set(std::string_view name, const std::vector<int64_t>& values);
  onnx_value constant(const tensor& t);
  onnx_value numbers(const std::vector<int64_t>& list);
  /// A scalar constant of this floating-point or integer dtype.
  onnx_value number(double x, dtype type);
  /// The extents as an int64 value, which holds for any batch size.
  onnx_value shape_of(const symbol_shape& dims);
  onnx_value transposed(const onnx_value& x, const std::vector<int64_t>& order);
  /// The product of `dims` as a scalar of this dtype.
  onnx_value product(const symbol_shape& dims, dtype type);

  const stored_node& node() const noexcept { return *node_; }
  const stored_node& input(size_t i) const { return from_.nodes[static_cast<size_t>(node_->inputs[i])]; }
  onnx_value in(size_t i) const { return values_[static_cast<size_t>(node_->inputs[i])]; }
  const std::vector<std::string>& unknowns() const noexcept { return from_.unknowns; }

 private:
  void add_input(const stored_node& n, const onnx_value& name);
  /// The batch size as an int64 [1]. Sets `without_batch_` if no input has a batch axis.
  onnx_value batch();
  onnx_value fresh(std::string_view name);

  proto::OnnxGraph& to_;
  const stored_graph& from_;
  std::vector<onnx_value> values_;
  std::map<std::string, onnx_value> tensors_;
  std::vector<std::pair<onnx_value, tensor>> constants_;
  const stored_node* node_ = nullptr;
  onnx_value batch_;
  bool without_batch_ = false;
  int64_t count_ = 0;
};

int32_t onnx_type(dtype type) noexcept;

/// Adds the ONNX nodes for the current node and returns their value; nothing if ONNX has no equivalent.
std::optional<onnx_value> onnx_twin(onnx_graph& g);

}  // namespace troupe
