#include "compute/operations/stored_graph.hpp"

#include "compute/operations/stored_forms.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {
namespace {

constexpr std::string_view tensor_attribute = "tensor", trainable_attribute = "trainable";

// -- to data -------------------------------------------------------------------------

std::vector<bool> needed_by(const graph_contents& g, std::span<const int32_t> roots) {
  std::vector<bool> needed(g.nodes.size());
  for (const int32_t r : roots)
    needed[static_cast<size_t>(r)] = true;
  for (size_t i = g.nodes.size(); i-- > 0;)
    if (needed[i])
      for (const int32_t input : g.nodes[i].inputs)
        needed[static_cast<size_t>(input)] = true;
  return needed;
}

/// "constants/0", "constants/1", ...: the next one that no variable has.
std::string constant_name(const graph_contents& g, size_t& next) {
  for (;;)
    if (std::string name = "constants/" + std::to_string(next++); !g.variable_names.contains(name))
      return name;
}

expected<stored_node> store(const graph_contents& g, const node& n) {
  stored_node s{.name = n.name,
                .operation = std::string{n.op->name},
                .inputs = {},
                .type = n.type,
                .dims = n.dims,
                .attributes = {}};
  if (n.op == &ops::variable) {
    s.attributes[std::string{trainable_attribute}] = g.variables[static_cast<size_t>(n.attr.index)].options.trainable;
  } else if (n.op != &ops::placeholder && n.op != &ops::constant) {
    const auto* form = stored_form_of(n.op->name);
    if (!form)
      return fail(errc::unimplemented,
                  "'" + n.name + "' is made by " + std::string{n.op->name} + ", an operation that cannot be stored");
    for (const auto name : form->attributes)
      s.attributes[std::string{name}] = read_attribute(n.attr, name);
  }
  return s;
}

// -- from data -----------------------------------------------------------------------

class restoring {
 public:
  restoring(const stored_graph& from, graph& g, const graph_sources& sources, std::source_location at)
    : from_(from), g_(g), impl_(contents_of(g)), sources_(sources), at_(at) {
    for (const auto& name : from.unknowns)
      unknowns_.push_back(g.unknown(name).unknown);
  }

  expected<std::vector<symbol>> run() {
    if (auto status = g_.status(); !status)
      return fail(status.error());
    for (number_ = 0; number_ < from_.nodes.size(); ++number_) {
      stored_ = &from_.nodes[number_];
      auto made = restore();
      if (!made)
        return fail(made.error());
      if (auto status = g_.status(); !status)
        return damaged(status.error().message);
      made_.push_back(*made);
    }
    return std::move(made_);
  }

 private:
  tl::unexpected<error> damaged(const std::string& what) const {
    return fail(errc::data_loss,
                "node " + std::to_string(number_) + " '" + stored_->name + "' (" + stored_->operation + "): " + what);
  }

  expected<symbol> restore() {
    auto dims = own_dims(stored_->dims);
    if (!dims)
      return fail(dims.error());
    for (const int32_t i : stored_->inputs)
      if (i < 0 || static_cast<size_t>(i) >= number_)
        return damaged("its input " + std::to_string(i) + " is not an earlier node");
    if (stored_->operation == ops::placeholder.name)
      return placeholder(*dims);
    if (stored_->operation == ops::variable.name)
      return variable(*dims);
    if (stored_->operation == ops::constant.name)
      return constant(*dims);
    return operation_node(*dims);
  }

  /// `dims` with the stored unknowns replaced by those of this graph; checks the extents.
  expected<symbol_shape> own_dims(symbol_shape dims) const {
    if (dims.size() > static_cast<size_t>(shape::max_rank))
      return damaged("it has " + std::to_string(dims.size()) + " axes, and 8 is the most");
    for (extent& e : dims) {
      const bool known_unknown = e.known() || static_cast<size_t>(e.unknown) < unknowns_.size();
      if (!known_unknown || e.coefficient < (e.known() ? 0 : 1) || e.coefficient > elements_max)
        return damaged("its shape has an extent that cannot be");
      if (!e.known())
        e.unknown = unknowns_[static_cast<size_t>(e.unknown)];
    }
    return dims;
  }

  expected<void> has_only(std::initializer_list<std::string_view> names) const {
    for (const auto& [name, value] : stored_->attributes)
      if (std::find(names.begin(), names.end(), name) == names.end())
        return damaged("it has the attribute '" + name + "', which such a node does not have");
    for (const auto name : names)
      if (!stored_->attributes.contains(std::string{name}))
        return damaged("it lacks the attribute '" + std::string{name} + "'");
    return stored_->inputs.empty() ? expected<void>{} : damaged("it has inputs, and is a source");
  }

  expected<symbol> placeholder(const symbol_shape& dims) {
    if (auto right = has_only({}); !right)
      return fail(right.error());
    if (stored_->name.empty())
      return damaged("it has no name");
    if (!sources_.input)
      return g_.placeholder(stored_->name, stored_->type, dims, at_);
    const symbol s = sources_.input(*stored_);
    if (!s.valid())
      return g_.status() ? expected<symbol>{damaged("there is no input of that name")} : fail(g_.status().error());
    if (s.type() != stored_->type || s.dims() != dims)
      return fail(errc::type, "'" + stored_->name + "' is " + describe(s) + ", and the exported model takes "
                                  + std::string{to_string(stored_->type)} + " " + to_string(g_, dims));
    return s;
  }

  /// The tensor called `name`, which must have the node's dtype and shape.
  expected<tensor> tensor_of(const std::string& name, const symbol_shape& dims) const {
    if (!sources_.tensors || !sources_.tensors->contains(name))
      return damaged("there is no tensor '" + name + "'");
    const tensor& t = sources_.tensors->at(name);
    if (known_elements(dims) && known_shape(dims) == t.dims() && t.type() == stored_->type)
      return t;
    return damaged("it is " + std::string{to_string(stored_->type)} + " " + to_string(g_, dims) + ", and its tensor '"
                   + name + "' is " + std::string{to_string(t.type())} + " " + to_text(t.dims()));
  }

  expected<symbol> variable(const symbol_shape& dims) {
    if (auto right = has_only({trainable_attribute}); !right)
      return fail(right.error());
    const auto* trainable = std::get_if<bool>(&stored_->attributes.at(std::string{trainable_attribute}));
    if (!trainable)
      return damaged("'trainable' must be true or false");
    auto start = tensor_of(stored_->name, dims);
    if (!start)
      return fail(start.error());
    return g_.variable({.name = stored_->name,
                        .dims = start->dims(),
                        .type = stored_->type,
                        .initial = init::values(*start),
                        .trainable = *trainable},
                       at_);
  }

  expected<symbol> constant(const symbol_shape& dims) {
    if (auto right = has_only({tensor_attribute}); !right)
      return fail(right.error());
    const auto* name = std::get_if<std::string>(&stored_->attributes.at(std::string{tensor_attribute}));
    if (!name)
      return damaged("'tensor' must be the name of a tensor");
    auto value = tensor_of(*name, dims);
    if (!value)
      return fail(value.error());
    const symbol s = g_.constant(*value, at_);
    if (s.valid())
      rename();
    return s;
  }

  /// Gives the newest node its stored name.
  void rename() {
    impl_.nodes.back().name = stored_->name;
    impl_.names.try_emplace(stored_->name, 1);
  }

  expected<attributes> attributes_of(const stored_form& form) const {
    attributes a;
    for (const auto& [name, value] : stored_->attributes) {
      if (std::find(form.attributes.begin(), form.attributes.end(), name) == form.attributes.end())
        return damaged("it has the attribute '" + name + "', which the operation does not have");
      if (!write_attribute(a, name, value))
        return damaged("its attribute '" + name + "' is not of the right kind");
    }
    for (const auto name : form.attributes)
      if (!stored_->attributes.contains(std::string{name}))
        return damaged("it lacks the attribute '" + std::string{name} + "'");
    auto per = own_dims(std::move(a.per));
    if (!per)
      return fail(per.error());
    a.per = std::move(*per);
    return a;
  }

  expected<symbol> operation_node(const symbol_shape& dims) {
    const auto* form = stored_form_of(stored_->operation);
    if (!form)
      return fail(errc::unimplemented, "node " + std::to_string(number_) + " '" + stored_->name
                                           + "' has the operation '" + stored_->operation
                                           + "', which this program does not know");
    const size_t count = stored_->inputs.size();
    if (count < form->inputs_least || count > form->inputs_most)
      return damaged("it has " + std::to_string(count) + " inputs, and takes " + std::to_string(form->inputs_least)
                     + (form->inputs_most > form->inputs_least ? " to " + std::to_string(form->inputs_most) : ""));
    auto a = attributes_of(*form);
    if (!a)
      return fail(a.error());
    std::vector<symbol> inputs;
    for (const int32_t i : stored_->inputs)
      inputs.push_back(made_[static_cast<size_t>(i)]);
    const size_t before = impl_.nodes.size();
    const symbol y = form->make({g_, inputs, *a, stored_->type, dims, at_});
    if (auto status = g_.status(); !status)
      return damaged(status.error().message);
    if (!y.valid() || impl_.nodes.size() != before + 1 || impl_.nodes.back().op != form->op)
      return damaged("no such node is ever made of these inputs");
    const node& n = impl_.nodes.back();
    if (n.type != stored_->type || n.dims != dims)
      return damaged("it is stored as " + std::string{to_string(stored_->type)} + " " + to_string(g_, dims)
                     + ", and its inputs make it " + std::string{to_string(n.type)} + " " + to_string(g_, n.dims));
    for (const auto name : form->attributes)
      if (read_attribute(n.attr, name) != read_attribute(*a, name))
        return damaged("its attribute '" + std::string{name} + "' cannot be with these inputs");
    rename();
    return y;
  }

  const stored_graph& from_;
  graph& g_;
  graph_contents& impl_;
  const graph_sources& sources_;
  std::source_location at_;
  std::vector<int32_t> unknowns_;  ///< By stored unknown: the unknown of this graph.
  std::vector<symbol> made_;
  const stored_node* stored_ = nullptr;
  size_t number_ = 0;
};

}  // namespace

expected<graph_slice> slice_of(const graph& g, std::span<const int32_t> roots) {
  const auto& impl = contents_of(g);
  const auto needed = needed_by(impl, roots);
  graph_slice slice;
  slice.nodes.unknowns = impl.unknowns;
  std::vector<int32_t> place(impl.nodes.size(), -1);
  size_t constants = 0;
  for (size_t i = 0; i < impl.nodes.size(); ++i) {
    if (!needed[i])
      continue;
    const node& n = impl.nodes[i];
    auto stored = store(impl, n);
    if (!stored)
      return fail(stored.error());
    if (n.op == &ops::constant) {
      const auto name = constant_name(impl, constants);
      stored->attributes[std::string{tensor_attribute}] = name;
      slice.constants[name] = impl.constants[static_cast<size_t>(n.attr.index)];
    }
    for (const int32_t input : n.inputs)
      stored->inputs.push_back(place[static_cast<size_t>(input)]);
    place[i] = static_cast<int32_t>(slice.nodes.nodes.size());
    slice.nodes.nodes.push_back(std::move(*stored));
  }
  for (const int32_t r : roots)
    slice.roots.push_back(place[static_cast<size_t>(r)]);
  return slice;
}

expected<std::vector<symbol>> restore_nodes(const stored_graph& from, graph& g, const graph_sources& sources,
                                            std::source_location at) {
  return restoring{from, g, sources, at}.run();
}

}  // namespace troupe
