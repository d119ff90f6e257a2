#include "compute/graph/graph.hpp"

#include "compute/graph/operation.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

// -- symbol ------------------------------------------------------------------------

dtype symbol::type() const {
  return valid() ? contents_of(*graph_).nodes[static_cast<size_t>(node_)].type : dtype::float32;
}

const symbol_shape& symbol::dims() const {
  static const symbol_shape none;
  return valid() ? contents_of(*graph_).nodes[static_cast<size_t>(node_)].dims : none;
}

// -- graph -------------------------------------------------------------------------

/// So that what is built there is an error, not a crash. Null where there is no memory for that: a move does not fail.
static std::unique_ptr<graph_contents> nothing() noexcept {
  try {
    auto made = std::make_unique<graph_contents>();
    made->first_error = error{errc::state, "the graph holds nothing: it was moved from"};
    return made;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

graph::graph() : contents_(std::make_unique<graph_contents>()) {}
graph::~graph() = default;
graph::graph(graph&& other) noexcept : contents_(std::exchange(other.contents_, nothing())) {}
graph& graph::operator=(graph&& other) noexcept {
  contents_ = std::exchange(other.contents_, nothing());
  return *this;
}

std::string graph_contents::unique(std::string_view name, std::string_view ending) {
  const std::string whole = (scopes.empty() ? std::string{} : scopes.back()).append(name);
  const auto with = [&ending](std::string text) { return text.append(ending); };
  for (int n = names[with(whole)]++; n > 0; n = names[with(whole)]++)
    if (auto next = with(whole + "_" + std::to_string(n)); names.try_emplace(next, 1).second)
      return next;
  return with(whole);
}

void graph_contents::claim(const std::string& variable) {
  names[variable] = 1;
  names.try_emplace(variable + "/", 1);
}

extent graph::unknown(std::string_view name) {
  auto& numbers = contents_->unknown_numbers;
  if (const auto known = numbers.find(name); known != numbers.end())
    return extent::of_unknown(known->second);
  const auto number = static_cast<int32_t>(contents_->unknowns.size());
  contents_->unknowns.emplace_back(name);
  numbers.emplace(name, number);
  return extent::of_unknown(number);
}

symbol graph::placeholder(std::string name, dtype type, symbol_shape dims, std::source_location at) {
  if (contents_->placeholder_names.contains(name))
    return refuse(*this, "placeholder", "there already is one named '" + name + "'", at);
  if (dims.size() > static_cast<size_t>(shape::max_rank))
    return refuse(*this, "placeholder", "rank " + std::to_string(dims.size()) + " is above 8", at);
  attributes attr;
  attr.index = static_cast<int32_t>(contents_->placeholders.size());
  const symbol s = append(*this, ops::placeholder, {}, type, std::move(dims), at, std::move(attr));
  if (!s.valid())
    return s;
  auto& n = contents_->nodes.back();
  contents_->names[name] = 1;
  contents_->placeholder_names.insert(name);
  n.name = std::move(name);
  contents_->placeholders.push_back(s.node());
  return s;
}

symbol graph::constant(const tensor& value, std::source_location at) {
  attributes attr;
  attr.index = static_cast<int32_t>(contents_->constants.size());
  contents_->constants.push_back(value);
  const auto extents = value.dims().extents();
  return append(*this, ops::constant, {}, value.type(), symbol_shape(extents.begin(), extents.end()), at,
                std::move(attr));
}

/// The variable of that name, for a part of the graph that is built again.
static symbol variable_again(graph& g, const variable_options& wanted, std::source_location at) {
  const auto& all = contents_of(g).variables;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const graph_variable& v) { return v.options.name == wanted.name; });
  const auto& made = found->options;
  if (made.type == wanted.type && made.dims == wanted.dims) {
    contents_of(g).claim(wanted.name);
    return symbol_of(g, found->node);
  }
  return refuse(g, "variable",
                "'" + wanted.name + "' is " + std::string{to_string(made.type)} + " " + troupe::to_text(made.dims)
                    + ", and where its model is built again " + std::string{to_string(wanted.type)} + " "
                    + troupe::to_text(wanted.dims),
                at);
}

symbol graph::variable(variable_options options, std::source_location at) {
  if (options.name.empty())
    return refuse(*this, "variable", "it has no name", at);
  const std::string prefix = contents_->scopes.empty() ? std::string{} : contents_->scopes.back();
  options.name = prefix + options.name;
  if (options.name == "global_step")
    return refuse(*this, "variable", "'global_step' is a reserved name: checkpoints keep the step under it", at);
  if (contents_->variable_names.contains(options.name))
    return contents_->reuses_variables
               ? variable_again(*this, options, at)
               : refuse(*this, "variable", "there already is one named '" + options.name + "'", at);
  for (int64_t e : options.dims.extents())
    if (e < 1)
      return refuse(*this, "variable", "'" + options.name + "' has an extent below 1: " + troupe::to_text(options.dims),
                    at);
  if (options.trainable && !is_floating(options.type))
    return refuse(*this, "variable", "'" + options.name + "' is trainable but " + std::string{to_string(options.type)},
                  at);
  if (options.initial.what == initializer::kind::orthogonal && (options.dims.rank() < 2 || !is_floating(options.type)))
    return refuse(*this, "variable",
                  "'" + options.name + "' is " + std::string{to_string(options.type)} + " "
                      + troupe::to_text(options.dims) + ", which cannot start orthogonal: that takes a floating matrix",
                  at);
  if (const tensor& given = options.initial.given; options.initial.what == initializer::kind::values
                                                   && (given.type() != options.type || given.dims() != options.dims))
    return refuse(*this, "variable",
                  "'" + options.name + "' is " + std::string{to_string(options.type)} + " "
                      + troupe::to_text(options.dims) + ", and its initial values are "
                      + std::string{to_string(given.type())} + " " + troupe::to_text(given.dims()),
                  at);
  attributes attr;
  attr.index = static_cast<int32_t>(contents_->variables.size());
  const auto extents = options.dims.extents();
  const symbol s = append(*this, ops::variable, {}, options.type, symbol_shape(extents.begin(), extents.end()), at,
                          std::move(attr));
  if (!s.valid())
    return s;
  contents_->nodes.back().name = options.name;
  contents_->claim(options.name);
  contents_->variable_names.insert(options.name);
  contents_->variables.push_back({std::move(options), s.node()});
  return s;
}

void graph::assign(symbol variable, symbol value, std::source_location at) {
  if (!common_graph("assign", {variable, value}, at))
    return;
  if (variable.owner() != this) {
    refuse(*this, "assign", "the variable is one of another graph", at);
    return;
  }
  const node& assigned = contents_->nodes[static_cast<size_t>(variable.node())];
  if (assigned.op != &ops::variable) {
    refuse(*this, "assign", "only a variable can be assigned, not " + assigned.name, at);
    return;
  }
  auto* v = &contents_->variables[static_cast<size_t>(assigned.attr.index)];
  const std::string name = "'" + v->options.name + "'";
  const bool assigned_before = v->next >= 0 && !contents_->reuses_variables;
  if (v->options.trainable || assigned_before)
    refuse(*this, "assign",
           name + (v->options.trainable ? " is trained by the optimizer" : " has been assigned before"), at);
  else if (!is_floating(v->options.type) || value.type() != variable.type() || value.dims() != variable.dims())
    refuse(*this, "assign",
           name + " is " + describe(variable) + " and the value " + describe(value)
               + ": both must be floating, of one dtype and shape",
           at);
  else if (!contents_->reuses_variables)
    v->next = value.node();
}

graph::scope_guard graph::scope(std::string_view name) {
  contents_->scopes.push_back(contents_->unique(name, "/"));
  return scope_guard{this};
}

graph::scope_guard::~scope_guard() {
  if (graph_ && !graph_->contents_->scopes.empty())  // It may have been moved from.
    graph_->contents_->scopes.pop_back();
}

std::string place_text(const std::source_location& at) {
  return at.line() == 0 ? "" : " (" + std::string{at.file_name()} + ":" + std::to_string(at.line()) + ")";
}

expected<void> graph::status() const {
  if (contents_->first_error)
    return fail(*contents_->first_error);
  return {};
}

symbol graph::invalid(error e, std::source_location at) {
  if (!contents_->first_error) {
    e.message += place_text(at);
    contents_->first_error = std::move(e);
  }
  return symbol{this, -1};
}

std::string graph::to_text() const {
  std::string text;
  for (const auto& n : contents_->nodes) {
    text += n.name + ": " + std::string{to_string(n.type)} + " " + to_string(*contents_, n.dims) + " = "
            + std::string{n.op->name};
    if (!n.inputs.empty())
      text += "(" + joined(n.inputs, ", ", [this](int32_t i) { return contents_->nodes[static_cast<size_t>(i)].name; })
              + ")";
    text += "\n";
  }
  return text;
}

// -- for operations ----------------------------------------------------------------

bool is_floating(dtype type) noexcept { return type == dtype::float32 || type == dtype::float64; }
bool is_integer(dtype type) noexcept { return type == dtype::int32 || type == dtype::int64 || type == dtype::uint8; }

bool is_number(dtype type) noexcept { return is_floating(type) || type == dtype::int32 || type == dtype::int64; }

std::string describe(symbol x) { return std::string{to_string(x.type())} + " " + to_string(*x.owner(), x.dims()); }

std::optional<int> normal_axis(int axis, int rank) {
  const int from_front = axis < 0 ? axis + rank : axis;
  return from_front < 0 || from_front >= rank ? std::nullopt : std::optional{from_front};
}

std::string to_string(const graph_contents& g, const symbol_shape& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    const extent& e = dims[i];
    text += i ? ", " : "";
    if (e.known() || e.coefficient != 1)
      text.append(std::to_string(e.coefficient)).append(e.known() ? "" : "*");
    if (!e.known())
      text += g.unknowns[static_cast<size_t>(e.unknown)];
  }
  return text + "]";
}

std::string to_string(const graph& g, const symbol_shape& dims) { return to_string(contents_of(g), dims); }

symbol refuse(graph& g, std::string_view operation, std::string message, std::source_location at) {
  const auto& scopes = contents_of(g).scopes;
  const std::string prefix = scopes.empty() ? std::string{} : scopes.back();
  return g.invalid({errc::invalid_argument, prefix + std::string{operation} + ": " + std::move(message)}, at);
}

graph* common_graph(std::string_view operation, const std::vector<symbol>& operands, std::source_location at) {
  graph* g = nullptr;
  for (symbol s : operands)
    if (s.owner()) {
      if (g && s.owner() != g) {
        refuse(*g, operation, "operands of two graphs", at);
        return nullptr;
      }
      g = s.owner();
    }
  for (symbol s : operands)
    if (!s.valid()) {
      if (g)
        refuse(*g, operation, "an operand is not a valid symbol", at);
      return nullptr;
    }
  return g;
}

std::optional<int64_t> product_within_limit(int64_t a, int64_t b) {
  int64_t n = 0;
  return __builtin_mul_overflow(a, b, &n) || n > elements_max ? std::nullopt : std::optional{n};
}

symbol append(graph& g, const operation& op, const std::vector<symbol>& inputs, dtype type, symbol_shape dims,
              std::source_location at, attributes attr) {
  auto& contents = contents_of(g);
  if (dims.size() > static_cast<size_t>(shape::max_rank))
    return refuse(g, op.name, "its result " + to_string(g, dims) + " would have more than 8 axes", at);
  if (std::any_of(dims.begin(), dims.end(), [](const extent& e) { return e.coefficient < 0; }))
    return refuse(g, op.name, "its result " + to_string(g, dims) + " would have an extent below 0", at);
  std::optional<int64_t> elements = 1;
  for (const extent& e : dims)
    elements = elements ? product_within_limit(*elements, e.coefficient) : elements;
  if (!elements)
    return refuse(g, op.name, "its result " + to_string(g, dims) + " would have more than 2^48 elements", at);
  node n;
  if (op.lower || op.view)
    n.name = contents.unique(op.name);
  else if (&op == &ops::constant)
    n.name = contents.unique("constant");
  n.op = &op;
  for (symbol s : inputs)
    n.inputs.push_back(s.node());
  n.attr = std::move(attr);
  n.type = type;
  n.dims = std::move(dims);
  n.at = at;
  n.gradient_of = contents.differentiated;
  contents.nodes.push_back(std::move(n));
  return symbol_of(g, static_cast<int32_t>(contents.nodes.size()) - 1);
}

std::optional<int64_t> known_elements(const symbol_shape& dims) {
  int64_t n = 1;
  for (const extent& e : dims) {
    if (!e.known())
      return {};
    const auto product = product_within_limit(n, e.coefficient);
    if (!product)
      return {};
    n = *product;
  }
  return n;
}

shape known_shape(const symbol_shape& dims) {
  std::vector<int64_t> extents;
  for (const extent& e : dims)
    extents.push_back(e.coefficient);
  return shape{std::span<const int64_t>{extents}};
}

symbol fill(graph& g, double value, dtype type, symbol_shape dims, std::source_location at) {
  const auto scalar = [&] {
    switch (type) {
      case dtype::float32: return tensor::scalar(static_cast<float>(value));
      case dtype::float64: return tensor::scalar(value);
      case dtype::int32: return tensor::scalar(static_cast<int32_t>(value));
      case dtype::int64: return tensor::scalar(static_cast<int64_t>(value));
      case dtype::boolean: return tensor::scalar(value != 0);
      case dtype::uint8: return tensor::scalar(static_cast<uint8_t>(value));
    }
    return tensor{};
  };
  return broadcast_to(g.constant(scalar(), at), std::move(dims), at);
}

}  // namespace troupe
