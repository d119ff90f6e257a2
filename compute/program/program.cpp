#include "compute/kernels/vectors.hpp"
#include "compute/parameters/parameter_store.hpp"
#include "compute/planner/program_draft.hpp"
#include "compute/program/program_impl.hpp"

namespace troupe {
namespace {

error trouble(std::string message) { return {errc::invalid_argument, std::move(message)}; }

bool is_one_number(const graph& g, symbol s) {
  return s.valid() && s.owner() == &g && is_floating(s.type()) && known_elements(s.dims()) == 1;
}

/// Outputs and the nodes of the graph that hold them.
struct wanted_values {
  std::vector<program_output> outputs;
  std::vector<int32_t> nodes;
};

/// The sums of the model's metrics, metric after metric by name.
expected<wanted_values> metric_sums(const graph& g, const model_spec& spec) {
  wanted_values all;
  int32_t index = 0;
  for (const auto& [name, one] : spec.metrics) {
    int32_t part = 0;
    for (const symbol s : one.sums) {
      if (!s.valid() || s.owner() != &g || !is_floating(s.type()) || !known_elements(s.dims()))
        return fail(trouble("sum " + std::to_string(part) + " of metric '" + name
                            + "' must be a floating symbol of this graph whose shape is known"));
      all.outputs.push_back({program_output::kind::metric_sum, name, index, part++});
      all.nodes.push_back(s.node());
    }
    ++index;
  }
  return all;
}

/// The values that a run of this mode has to yield, in the order of `outputs()`.
expected<wanted_values> wanted(const graph& g, const model_spec& spec, mode what, const program_options& options) {
  using kind = program_output::kind;
  wanted_values all;
  const auto add = [&](kind what_it_is, const std::string& name, size_t index, symbol s) {
    all.outputs.push_back({what_it_is, name, static_cast<int32_t>(index)});
    all.nodes.push_back(s.node());
  };
  size_t index = 0;
  if (what != mode::predict) {
    if (!spec.loss.valid() || spec.loss.owner() != &g)
      return fail(trouble("the loss is not a valid symbol of this graph"));
    if (!is_one_number(g, spec.loss))
      return fail(trouble("the loss must be one floating number, not " + std::string{to_string(spec.loss.type())} + " "
                          + to_string(g, spec.loss.dims())));
    add(kind::loss, "", 0, spec.loss);
  }
  if (what == mode::evaluate) {
    auto sums = metric_sums(g, spec);
    if (!sums)
      return fail(sums.error());
    std::move(sums->outputs.begin(), sums->outputs.end(), std::back_inserter(all.outputs));
    all.nodes.insert(all.nodes.end(), sums->nodes.begin(), sums->nodes.end());
  }
  if (what == mode::predict) {
    if (spec.predictions.empty())
      return fail(trouble("a model that predicts needs predictions"));
    for (const auto& [name, s] : spec.predictions) {
      if (!s.valid() || s.owner() != &g)
        return fail(trouble("prediction '" + name + "' is not a valid symbol of this graph"));
      add(kind::prediction, name, index++, s);
    }
  }
  index = 0;
  for (const auto& name : options.expose) {
    const auto value = spec.predictions.find(name);
    if (value == spec.predictions.end())
      return fail(trouble("the model makes no prediction '" + name
                          + "' while it trains, which another one is to read: its spec needs one in that mode too"));
    const auto& dims = value->second.dims();
    if (value->second.owner() != &g || dims.empty() || dims.front().known() || dims.front().coefficient != 1)
      return fail(trouble("prediction '" + name
                          + "', which another model is to read, must have a row for each example, not the shape "
                          + to_string(g, dims)));
    add(kind::exposed, name, index++, value->second);
  }
  if (auto carried = check_states(contents_of(g)); !carried)
    return fail(carried.error());
  for (index = 0; const auto& s : carried_states(contents_of(g))) {
    all.outputs.push_back({kind::carried, s.options.name, static_cast<int32_t>(index++)});
    all.nodes.push_back(s.next);
  }
  return all;
}

/// A copy of the graph, to which gradients can be added.
graph clone(const graph& g) {
  graph copy;
  contents_of(copy) = contents_of(g);
  contents_of(copy).scopes.clear();
  return copy;
}

planned_call copy_call(int32_t from, int32_t to) { return {.op = &ops::copy, .in = {from}, .out = {to}}; }

/// A new value of the draft, filled from `from`.
int32_t add_copy(program_draft& p, int32_t from) {
  const int32_t to = add_copy_of(p, from);
  p.calls.push_back(copy_call(from, to));
  return to;
}

/// Makes the draft compute the gradient of one variable at its place in the flat vector, or copy it there.
void send_gradient(program_draft& p, int32_t value, int64_t offset) {
  const int32_t r = p.root(value);
  if (p.value(r).read_only || p.value(r).keep)
    value = add_copy(p, value);
  auto& v = p.value(p.root(value));
  v.where = {base_gradient, offset};
  v.read_only = v.keep = true;
}

struct training {
  std::vector<int32_t> nodes;    ///< Nodes of the gradients, then of assigned values, in the variables' order.
  std::vector<int64_t> offsets;  ///< Their places in the flat vector.
};

/// value / S
symbol share_of(symbol value, int32_t shards) {
  return scale_per(value, 1, {extent{shards}}, std::source_location::current());
}

/// One shard's term of the sum that becomes the variable. For a mean: value / S; for a sum: value - before + before /
/// S.
symbol share_of(graph& g, const graph_variable& v, int32_t shards) {
  const symbol before = symbol_of(g, v.node), value = symbol_of(g, v.next);
  if (shards == 1)
    return value;
  return v.options.replicas == combine::sum ? sub(value, scale(before, 1 - 1.0 / shards)) : share_of(value, shards);
}

expected<training> differentiate(graph& g, symbol loss, const optimizer& o, const parameter_layout& layout,
                                 int32_t shards) {
  training t;
  std::vector<symbol> variables;
  const variable_groups groups{o.groups};
  for (const auto& v : contents_of(g).variables) {
    if (!v.options.trainable || groups.freeze(v.options.name))
      continue;
    const int32_t at = layout.find(v.options.name);
    if (at < 0 || layout.entries()[static_cast<size_t>(at)].gradient_offset < 0)
      return fail(trouble("the store has no trainable variable named '" + v.options.name + "'"));
    variables.push_back(symbol_of(g, v.node));
    t.offsets.push_back(layout.entries()[static_cast<size_t>(at)].gradient_offset);
  }
  if (shards > 1 && o.reduce == reduction::mean)
    loss = share_of(loss, shards);
  const auto all = gradients(loss, variables);
  if (auto status = g.status(); !status)
    return fail(status.error());
  for (symbol s : all)
    t.nodes.push_back(s.node());
  for (const auto& v : contents_of(g).variables) {
    if (v.next < 0)
      continue;
    const int32_t at = layout.find(v.options.name);
    if (at < 0 || layout.entries()[static_cast<size_t>(at)].gradient_offset < 0)
      return fail(trouble("the store has no assigned variable named '" + v.options.name + "'"));
    t.nodes.push_back(share_of(g, v, shards).node());
    t.offsets.push_back(layout.entries()[static_cast<size_t>(at)].gradient_offset);
  }
  if (auto status = g.status(); !status)
    return fail(status.error());
  return t;
}

/// The nodes whose values must be available after a run.
struct demand {
  std::vector<int32_t> outputs;
  /// In the order in which `settle` returns them: summaries and observed values, the sums of metrics while training,
  /// the tensors of each host call. `what` 0: in every run.
  std::vector<recorded_values> recorded;
  training gradients;
};

/// Runs the last passes, up to buffer assignment. Returns the values that hold the outputs, then what is recorded.
std::vector<int32_t> settle(program_draft& p, const demand& d, const program_options& options) {
  std::vector<int32_t> roots = d.gradients.nodes;
  roots.insert(roots.end(), d.outputs.begin(), d.outputs.end());
  auto recorded = d.recorded;
  const auto mark = [&] {
    for (const auto& r : recorded)
      if (r.what == 0)
        roots.insert(roots.end(), r.values.begin(), r.values.end());
    mark_recording(p, roots, recorded);
  };
  mark();
  if (options.fuse)
    fuse_elementwise(p);
  for (int32_t n : d.gradients.nodes)
    p.value(n).keep = false;
  const auto keep = [&p](int32_t node) {
    const int32_t kept = p.value(p.root(node)).read_only ? add_copy(p, node) : node;
    p.value(kept).keep = p.value(p.root(kept)).keep = true;
    return kept;
  };
  std::vector<int32_t> kept;
  for (int32_t n : d.outputs)
    kept.push_back(keep(n));
  roots = kept;
  for (auto& r : recorded)
    for (int32_t& n : r.values)
      kept.push_back(n = keep(n));
  for (size_t n = 0; n < d.gradients.nodes.size(); ++n)
    send_gradient(p, d.gradients.nodes[n], d.gradients.offsets[n]);
  for (size_t v = 0; v < p.values.size(); ++v)
    if (p.values[v].where.base == base_gradient)
      roots.push_back(static_cast<int32_t>(v));
  mark();
  if (options.elide)
    elide_copies(p);
  if (options.pool) {
    p.threads = threads_for(work_of(p), options.work_a_thread, options.pool->threads());
    divide_calls(p, options.least_work);
  }
  assign_buffers(p);
  return kept;
}

/// Settles the draft, with rematerialisation if that makes the arena smaller.
std::vector<int32_t> finish(program_draft& p, const demand& d, const program_options& options, int32_t gradients_from) {
  if (!options.recompute || d.gradients.nodes.empty())
    return settle(p, d, options);
  program_draft again = p;
  recompute(again, gradients_from);
  auto kept = settle(p, d, options), kept_again = settle(again, d, options);
  if (again.arena_bytes >= p.arena_bytes)
    return kept;
  p = std::move(again);
  return kept_again;
}

}  // namespace

expected<std::unique_ptr<program>> program::make(const graph& g, const model_spec& spec, const parameter_layout& layout,
                                                 const program_options& options) {
  return make_program(g, spec, layout, options, false);
}

expected<std::unique_ptr<program>> program::make_forward(const graph& g, const model_spec& spec,
                                                         const parameter_layout& layout,
                                                         const program_options& options) {
  return make_program(g, spec, layout, options, true);
}

expected<std::unique_ptr<program>> program::make_program(const graph& source, const model_spec& spec,
                                                         const parameter_layout& layout, const program_options& options,
                                                         bool forward_only) {
  if (auto status = source.status(); !status)
    return fail(status.error());
  if (const auto& level = chosen_vectors(); !level)
    return fail(level.error());
  if (options.batch < 1 || options.shards < 1)
    return fail(trouble("batch and shards must be at least 1, not " + std::to_string(options.batch) + " and "
                        + std::to_string(options.shards)));
  const mode what = spec.mode.value_or(mode::train);
  const bool trains = what == mode::train && !forward_only;
  auto outputs = wanted(source, spec, what, options);
  if (!outputs)
    return fail(outputs.error());
  auto i = std::make_unique<impl>();
  if (trains) {
    if (!spec.optimizer)
      return fail(trouble("a model that trains needs an optimizer"));
    auto update = planned_update::of(*spec.optimizer, layout);
    if (!update)
      return fail(update.error());
    i->update = std::move(*update);
    i->squares.resize(static_cast<size_t>(i->update.norm_chunks()));
  }

  graph g = clone(source);
  training t;
  if (trains) {
    auto made = differentiate(g, symbol_of(g, spec.loss.node()), *spec.optimizer, layout, options.shards);
    if (!made)
      return fail(made.error());
    t = std::move(*made);
  }
  std::vector<impl::recorded_output> recorded;  // Nodes: those of summaries first, then observed ones.
  size_t summaries = 0;
  if (trains) {
    for (const auto& s : contents_of(g).summaries)
      if (s.node >= 0)
        recorded.push_back({s.node, s.images_max});
    summaries = recorded.size();
    for (const auto& o : contents_of(g).observed)
      recorded.push_back({o.node, 0});
  }
  std::vector<std::vector<int32_t>> called;  // Nodes, by host call.
  if (!forward_only)
    for (const auto& call : contents_of(g).host_calls)
      for (auto& nodes = called.emplace_back(); const auto& [name, node] : call.tensors) {
        nodes.push_back(node);
        i->called_outputs.push_back({.what = program_output::kind::called, .name = name});
      }
  wanted_values measured;
  if (trains && options.measure != measuring::never) {
    auto sums = metric_sums(source, spec);
    if (!sums)
      return fail(sums.error());
    measured = std::move(*sums);
  }
  std::vector<int32_t> roots = t.nodes;
  roots.insert(roots.end(), outputs->nodes.begin(), outputs->nodes.end());
  roots.insert(roots.end(), measured.nodes.begin(), measured.nodes.end());
  for (const auto& r : recorded)
    roots.push_back(r.value);
  for (const auto& nodes : called)
    roots.insert(roots.end(), nodes.begin(), nodes.end());
  auto bound = bind_unknowns(contents_of(g), roots, layout, options);
  if (!bound)
    return fail(bound.error());
  i->draft = std::move(*bound);
  auto& p = i->draft;

  for (const auto* nodes : {&outputs->nodes, &measured.nodes})
    for (const int32_t n : *nodes)
      p.value(n).keep = true;
  for (const auto& r : recorded)
    p.value(r.value).keep = true;
  for (const auto& nodes : called)
    for (const int32_t n : nodes)
      p.value(n).keep = true;
  for (const auto& s : layout.sparse())
    for (size_t n = 0; n < t.nodes.size(); ++n)
      if (t.offsets[n] == s.first) {
        const auto by_row = scatter_rows(p, t.nodes[n], s);
        if (!by_row)
          return fail(trouble("this graph does more with variable '"
                              + layout.entries()[static_cast<size_t>(s.entry)].name
                              + "' than to look rows up, as the one that the store was made for does"));
        t.nodes[n] = *by_row;
      }
  for (int32_t n : t.nodes)
    p.value(n).keep = true;
  fold_constants(p);
  if (options.eliminate_common_calls) {
    eliminate_common_calls(p);
    hoist_transposes(p);
  }
  fuse_layers(p);
  fuse_cross_entropy(p);
  fuse_scaled_sum(p);
  remove_dead_code(p);
  demand d{.outputs = outputs->nodes,
           .recorded = {{}, {options.measure == measuring::always ? 0 : record_values, measured.nodes}},
           .gradients = std::move(t)};
  for (const auto& r : recorded)
    d.recorded.front().values.push_back(r.value);
  for (size_t call = 0; call < called.size(); ++call)
    d.recorded.push_back({record_call(call), called[call]});
  auto kept = finish(p, d, options, static_cast<int32_t>(contents_of(source).nodes.size()));
  auto next = kept.begin() + std::ssize(d.outputs);
  for (size_t r = 0; r < recorded.size(); ++r)
    (r < summaries ? i->for_summaries : i->observed).push_back({*next++, recorded[r].rows_max});
  const auto describe = [&p](const std::vector<int32_t>& values, auto output) {
    for (const int32_t v : values) {
      output->type = p.value(v).type;
      (output++)->dims = p.value(v).dims;
    }
    return output;
  };
  i->measured.assign(next, next + std::ssize(measured.nodes));
  next += std::ssize(measured.nodes);
  i->measured_outputs = std::move(measured.outputs);
  describe(i->measured, i->measured_outputs.begin());
  for (auto output = i->called_outputs.begin(); const auto& nodes : called) {
    i->called.emplace_back(next, next + std::ssize(nodes));
    next += std::ssize(nodes);
    output = describe(i->called.back(), output);
  }
  kept.resize(d.outputs.size());
  if (p.threads > 1) {
    if (auto begun = options.pool->begin(p.threads); !begun)
      return fail(begun.error());
    i->pool = options.pool;
  }
  i->share_bytes = std::max<int64_t>(64, options.least_work * 4);
  if (auto ready = i->prepare(contents_of(g), std::move(outputs->outputs), kept, layout, what == mode::predict, trains);
      !ready)
    return fail(ready.error());
  return std::unique_ptr<program>{new program(std::move(i))};
}

program::program(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
program::~program() = default;

}  // namespace troupe
