// What a job is made of: the plan of its actors and the graphs of its model.
#include <troupe/inspect.hpp>

#include "compute/model_graph.hpp"
#include "compute/operation.hpp"
#include "compute/step_engine.hpp"
#include "estimator/describe.hpp"

namespace troupe {

namespace {

std::string scope_of(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

void add_nodes(graph_report& report, const graph::impl& g) {
  for (const auto& n : g.nodes) {
    graph_report::node row{n.name, scope_of(n.name), std::string{n.op->name}, std::string{to_string(n.type)}, to_string(g, n.dims), {}};
    for (const int32_t input : n.inputs)
      row.inputs.push_back(g.nodes[static_cast<size_t>(input)].name);
    report.nodes.push_back(std::move(row));
  }
}

void add_variables(graph_report& report, const graph::impl& g) {
  for (const auto& v : g.variables) {
    const auto extents = v.options.dims.extents();
    report.variables.push_back({v.options.name, std::string{to_string(v.options.type)}, {extents.begin(), extents.end()},
                                v.options.dims.elements(), v.options.trainable});
    report.parameters += v.options.dims.elements();
    report.trainable_parameters += v.options.trainable ? v.options.dims.elements() : 0;
  }
}

/// Rows that one program computes at a time, and for how many shards.
expected<program_options> program_size(const run_config& config, int64_t batch_rows, mode m) {
  const int64_t shards = m == mode::train ? config.gradient_shards.value_or(config.replicas) : 1;
  if (batch_rows % shards != 0)
    return fail(errc::invalid_argument, "a batch of " + std::to_string(batch_rows) + " rows cannot be cut into "
                                          + std::to_string(shards) + " gradient shards");
  return program_options{batch_rows / shards, static_cast<int32_t>(shards), config.seed.value_or(0)};
}

}  // namespace

expected<plan_report> inspect_plan(const estimator& e, const train_spec& training, const std::optional<eval_spec>& evaluation) {
  const auto described = describe(e, training, evaluation);
  if (!described)
    return fail(described.error());
  const auto plan = training_plan(*described);
  if (!plan)
    return fail(plan.error());
  plan_report report;
  for (const auto& n : plan->nodes)
    report.nodes.push_back({n.name, std::string{to_string(n.what)}, n.work});
  for (const auto& edge : plan->edges)
    report.edges.push_back({edge.from, edge.to, std::string{to_string(edge.how)}, edge.credit_blocks});
  report.snapshot_parts = plan->snapshot_parts;
  return report;
}

expected<graph_report> inspect_graph(const estimator& e, const dataset& input, mode m) {
  const auto source = checked_model(e);
  if (!source)
    return fail(source.error());
  const auto iterator = input.node()->iterate({.seed = e.config.seed.value_or(0), .drop_remainder = m == mode::train});
  if (!iterator)
    return fail(iterator.error());
  const auto built = build_graph(**source, (*iterator)->spec(), m);
  if (!built)
    return fail(built.error());
  graph_report report{.model = (*source)->name, .mode = m};
  add_nodes(report, (*built)->g.internals());
  add_variables(report, (*built)->g.internals());
  const auto layout = layout_of(**source, (*iterator)->spec(), m);
  if (!layout)
    return fail(layout.error());
  const auto size = program_size(e.config, (*iterator)->batch_rows(), m);
  if (!size)
    return fail(size.error());
  const auto planned = program::plan((*built)->g, (*built)->spec, *layout, *size);
  if (!planned)
    return fail(planned.error());
  report.program = (*planned)->to_text();
  return report;
}

}  // namespace troupe
