#include "exports/onnx_graph.hpp"

#include <numeric>

namespace troupe {

namespace {

enum attribute_type : int32_t { type_float = 1, type_int = 2, type_ints = 7 };

void set_type(proto::OnnxType& to, dtype type, const symbol_shape& dims, const std::vector<std::string>& unknowns) {
  auto& t = *to.mutable_tensor_type();
  t.set_elem_type(onnx_type(type));
  t.mutable_shape();
  for (const extent& e : dims) {
    auto& d = *t.mutable_shape()->add_dim();
    if (e.known())
      d.set_dim_value(e.coefficient);
    else
      d.set_dim_param((e.coefficient == 1 ? "" : std::to_string(e.coefficient) + "*")
                      + unknowns[static_cast<size_t>(e.unknown)]);
  }
}

}  // namespace

int32_t onnx_type(dtype type) noexcept {
  switch (type) {
    case dtype::float32: return 1;
    case dtype::float64: return 11;
    case dtype::int32: return 6;
    case dtype::int64: return 7;
    case dtype::boolean: return 9;
    case dtype::uint8: return 2;
  }
  return 0;
}

expected<void> onnx_graph::add_nodes() {
  for (size_t i = 0; i < from_.nodes.size(); ++i) {
    node_ = &from_.nodes[i];
    if (node_->operation == "placeholder") {
      values_[i] = node_->name;
      add_input(*node_, values_[i]);
    } else if (node_->operation == "variable" || node_->operation == "constant") {
      const auto* of = node_->operation == "constant" ? std::get_if<std::string>(&node_->attributes.at("tensor"))
                                                      : &node_->name;
      auto& name = tensors_[*of];
      if (name.empty())
        name = fresh(*of);
      values_[i] = name;
    } else {
      auto made = onnx_twin(*this);
      if (without_batch_)
        return fail(errc::unimplemented, "node '" + node_->name + "' has a row for each example and depends on no "
                                                                  "input, which is all that an ONNX model knows "
                                           "the number of rows by");
      if (!made)
        return fail(errc::unimplemented, "node '" + node_->name + "': the operation " + node_->operation
                                             + " has no twin in ONNX with these operands and attributes (opset "
                                             + std::to_string(onnx_opset) + ")");
      values_[i] = std::move(*made);
    }
  }
  return {};
}

void onnx_graph::add_input(const stored_node& n, const onnx_value& name) {
  auto& v = *to_.add_input();
  v.set_name(name);
  set_type(*v.mutable_type(), n.type, n.dims, from_.unknowns);
}

void onnx_graph::add_output(size_t i, const std::string& name) {
  auto& same = *to_.add_node();
  same.set_op_type("Identity");
  same.set_name("output/" + name);
  same.add_input(values_[i]);
  same.add_output(name);
  auto& v = *to_.add_output();
  v.set_name(name);
  set_type(*v.mutable_type(), from_.nodes[i].type, from_.nodes[i].dims, from_.unknowns);
}

/// Makes a unique name: a number follows each, after a character that no input's name is likely to have.
onnx_value onnx_graph::fresh(std::string_view name) { return std::string{name} + ":" + std::to_string(count_++); }

onnx_value onnx_graph::emit(std::string_view op, const std::vector<onnx_value>& inputs) {
  auto& n = *to_.add_node();
  n.set_op_type(std::string{op});
  for (const auto& x : inputs)
    n.add_input(x);
  const onnx_value y = fresh(node_->name);
  n.set_name(y);
  n.add_output(y);
  return y;
}

void onnx_graph::set(std::string_view name, int64_t value) {
  auto& a = *to_.mutable_node(to_.node_size() - 1)->add_attribute();
  a.set_name(std::string{name});
  a.set_type(type_int);
  a.set_i(value);
}

void onnx_graph::set(std::string_view name, double value) {
  auto& a = *to_.mutable_node(to_.node_size() - 1)->add_attribute();
  a.set_name(std::string{name});
  a.set_type(type_float);
  a.set_f(static_cast<float>(value));
}

void onnx_graph::set(std::string_view name, const std::vector<int64_t>& values) {
  auto& a = *to_.mutable_node(to_.node_size() - 1)->add_attribute();
  a.set_name(std::string{name});
  a.set_type(type_ints);
  for (const int64_t x : values)
    a.add_ints(x);
}

onnx_value onnx_graph::constant(const tensor& t) {
  constants_.emplace_back(fresh("constant"), t);
  return constants_.back().first;
}

onnx_value onnx_graph::numbers(const std::vector<int64_t>& list) {
  return constant(tensor::of<int64_t>({static_cast<int64_t>(list.size())}, std::span<const int64_t>{list}));
}

onnx_value onnx_graph::number(double x, dtype type) {
  switch (type) {
    case dtype::float64: return constant(tensor::scalar(x));
    case dtype::int32: return constant(tensor::scalar(static_cast<int32_t>(x)));
    case dtype::int64: return constant(tensor::scalar(static_cast<int64_t>(x)));
    case dtype::uint8: return constant(tensor::scalar(static_cast<uint8_t>(x)));
    case dtype::boolean: return constant(tensor::scalar(x != 0));
    case dtype::float32: break;
  }
  return constant(tensor::scalar(static_cast<float>(x)));
}

onnx_value onnx_graph::batch() {
  if (!batch_.empty())
    return batch_;
  for (const auto& n : from_.nodes)
    if (n.operation == "placeholder" && !n.dims.empty() && n.dims[0].coefficient == 1 && !n.dims[0].known()) {
      const auto all = emit("Shape", {n.name});
      batch_ = emit("Slice", {all, numbers({0}), numbers({1})});
      break;
    }
  without_batch_ = batch_.empty();
  return batch_;
}

onnx_value onnx_graph::shape_of(const symbol_shape& dims) {
  std::vector<onnx_value> parts;
  std::vector<int64_t> known;
  bool any = false;
  for (const extent& e : dims) {
    if (e.known()) {
      known.push_back(e.coefficient);
      continue;
    }
    any = true;
    if (!known.empty())
      parts.push_back(numbers(std::exchange(known, {})));
    parts.push_back(e.coefficient == 1 ? batch() : emit("Mul", {batch(), numbers({e.coefficient})}));
  }
  if (!any)
    return numbers(known);
  if (!known.empty())
    parts.push_back(numbers(known));
  if (parts.size() == 1)
    return parts[0];
  const auto y = emit("Concat", parts);
  set("axis", int64_t{0});
  return y;
}

onnx_value onnx_graph::transposed(const onnx_value& x, const std::vector<int64_t>& order) {
  const auto y = emit("Transpose", {x});
  set("perm", order);
  return y;
}

onnx_value onnx_graph::product(const symbol_shape& dims, dtype type) {
  onnx_value y = number(
      std::accumulate(dims.begin(), dims.end(), 1.0,
                      [](double p, const extent& e) { return p * static_cast<double>(e.coefficient); }),
      type);
  for (const extent& e : dims)
    if (!e.known()) {
      const auto scalar = emit("Squeeze", {batch()});
      const auto cast = emit("Cast", {scalar});
      set("to", int64_t{onnx_type(type)});
      y = emit("Mul", {y, cast});
    }
  return y;
}

}  // namespace troupe
