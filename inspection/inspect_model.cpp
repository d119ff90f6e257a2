// Inspects a job's structure: the plan of its actors and the graphs of its model.
#include "compute/engine/step_engine.hpp"
#include "compute/graph/operation.hpp"
#include "input/streams/open_input.hpp"
#include "inspection/planned_model.hpp"
#include "models/model_spec.hpp"
#include "storage/files/processors.hpp"
#include "words/settled_config.hpp"

#include <troupe/inspect.hpp>

namespace troupe {

namespace {

std::string scope_of(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

void add_nodes(graph_description& description, const graph_contents& g) {
  for (const auto& n : g.nodes) {
    graph_description::node row{
        n.name, scope_of(n.name), std::string{n.op->name}, std::string{to_string(n.type)}, to_string(g, n.dims), {}};
    for (const int32_t input : n.inputs)
      row.inputs.push_back(g.nodes[static_cast<size_t>(input)].name);
    description.nodes.push_back(std::move(row));
  }
}

void add_variables(graph_description& description, const graph_contents& g) {
  for (const auto& v : g.variables) {
    const auto extents = v.options.dims.extents();
    description.variables.push_back({v.options.name,
                                     std::string{to_string(v.options.type)},
                                     {extents.begin(), extents.end()},
                                     v.options.dims.elements(),
                                     v.options.trainable});
    description.parameters += v.options.dims.elements();
    description.trainable_parameters += v.options.trainable ? v.options.dims.elements() : 0;
  }
}

/// The number of rows that one program computes at a time, and the number of gradient shards.
expected<program_options> program_size(const settled_config& config, int64_t batch_rows, mode m) {
  const int32_t shards = m == mode::train ? config.gradient_shards : 1;
  if (batch_rows % shards != 0)
    return fail(errc::invalid_argument, "a batch of " + std::to_string(batch_rows) + " rows cannot be cut into "
                                            + std::to_string(shards) + " gradient shards");
  return program_options{
      .batch = batch_rows / shards, .shards = shards, .seed = config.seed, .recompute = config.recompute};
}

/// The number of threads that a replica would have in a job on this machine.
int32_t threads_of(const program& p, const settled_config& config, mode m) {
  if (config.intra_op_threads > 0)
    return config.intra_op_threads;
  if (config.pin_replicas && m == mode::train)
    return 1;
  const auto replicas = m == mode::train ? config.replicas : 1;
  return threads_for(p.work(), automatic_work_a_thread, std::max(1, usable_processors() / replicas));
}

program_description report_of(const program& p, int64_t rows, int32_t threads) {
  program_description description{
      .rows = rows,
      .arena_bytes = p.arena_bytes(),
      .live_bytes_max = p.live_bytes_max(),
      .flops = p.flops(),
      .threads = threads,
      .text = std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ") + p.to_text()};
  const auto buffers = [](const std::vector<kernel_facts::buffer>& from) {
    std::vector<program_description::buffer> all;
    for (const auto& b : from)
      all.push_back({b.name,
                     std::string{to_string(b.type)},
                     {b.dims.extents().begin(), b.dims.extents().end()},
                     b.where,
                     b.bytes()});
    return all;
  };
  for (const auto& k : p.describe())
    description.kernels.push_back(
        {k.title, buffers(k.reads), buffers(k.writes), k.workspace_bytes, k.flops, k.recording != 0});
  return description;
}

}  // namespace

expected<built_model> build_model(const estimator& e, const dataset& input, mode m) {
  auto config = resolve_config(e.config);
  if (!config)
    return fail(config.error());
  auto source = checked(e.model);
  if (!source)
    return fail(source.error());
  auto iterator = open_input(input, {.seed = config->seed, .drop_remainder = m == mode::train});
  if (!iterator)
    return fail(iterator.error());
  auto built = build_graph(**source, (*iterator)->spec(), m);
  if (!built)
    return fail(built.error());
  return built_model{std::move(*config), std::move(*source), std::move(*iterator), std::move(*built)};
}

expected<planned_model> plan_model(built_model from, mode m) {
  auto layout = layout_of(*from.graph);
  if (!layout)
    return fail(layout.error());
  const auto size = program_size(from.config, from.input->batch_rows(), m);
  if (!size)
    return fail(size.error());
  auto planned = program::make(from.graph->g, from.graph->spec, *layout, *size);
  if (!planned)
    return fail(planned.error());
  return planned_model{std::move(from.source), std::move(from.input), std::move(from.graph), std::move(*layout), *size,
                       std::move(*planned)};
}

expected<planned_model> plan_model(const estimator& e, const dataset& input, mode m) {
  return build_model(e, input, m).and_then([m](built_model&& built) { return plan_model(std::move(built), m); });
}

expected<graph_description> inspect_graph(const estimator& e, const dataset& input, mode m, graph_depth depth) {
  auto built = build_model(e, input, m);
  if (!built)
    return fail(built.error());
  graph_description description{.model = built->source->name, .mode = m};
  add_nodes(description, contents_of(built->graph->g));
  add_variables(description, contents_of(built->graph->g));
  if (depth == graph_depth::graph_only)
    return description;
  const auto config = built->config;
  const auto made = plan_model(std::move(*built), m);
  if (!made)
    return fail(made.error());
  description.program = report_of(*made->planned, made->size.batch, threads_of(*made->planned, config, m));
  return description;
}

}  // namespace troupe
