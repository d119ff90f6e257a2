#include "pipeline/launch/build_programs.hpp"

#include "compute/engine/row_cache.hpp"
#include "compute/graph/graph.hpp"
#include "compute/graph/model_graph.hpp"
#include "compute/operations/stored_graph.hpp"
#include "ensemble/graphs/outputs.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

std::vector<group_layout> layouts_of(const prepared_job& job) {
  std::vector<group_layout> all;
  for (size_t p = 0; p < job.programs.size(); ++p)
    if (const auto& program = job.plan->programs[p]; program.mode == mode::train)
      all.push_back({program.group,
                     {job.programs[p].parameters, &job.programs[p].parameters->layout()},
                     job.plan.group(program.group).name});
  return all;
}

namespace {

/// The element of a dataset, as an edge from its infeed carries it.
element_spec element_by(const prepared_job& job, const plan_edge& edge) {
  auto element = job.datasets[*job.plan.at(edge.from).dataset].element;
  if (edge.in != data_port)
    for (auto* all : {&element.features, &element.labels})
      for (auto& c : *all)
        c.name = edge.in + "/" + c.name;
  return element;
}

}  // namespace

std::vector<component> carried_by(const prepared_job& job, const plan_edge& edge) {
  const auto& source = job.plan.at(edge.from);
  if (source.dataset)
    return element_by(job, edge).components();
  const auto port = std::find(source.out_ports.begin(), source.out_ports.end(), edge.out) - source.out_ports.begin();
  auto c = job.programs[*source.program].exposed[static_cast<size_t>(port)];
  c.name = edge.in;
  return {c};
}

namespace {

/// The number of rows that an edge carries in one step.
expected<int64_t> rows_by(const prepared_job& job, const plan_edge& e, const std::vector<int64_t>& rows_of_programs) {
  const auto& plan = job.plan;
  const auto& source = plan.at(e.from);
  if (source.program)
    return rows_of_programs[*source.program];
  const auto rows = job.datasets[*source.dataset].batch_rows;
  if (e.how != divide::split)
    return rows;
  const auto& others = plan.edges_from(e.from);
  const auto readers = std::count_if(others.begin(), others.end(), [&](const plan_edge* other) {
    return plan.at(other->to).group == plan.at(e.to).group;
  });
  if (rows % readers != 0)
    return fail(errc::invalid_argument, "a batch of " + std::to_string(rows) + " rows cannot be split evenly among "
                                            + std::to_string(readers) + " replicas");
  return rows / readers;
}

/// The input of one replica of a program, over all of its ports.
struct fed {
  element_spec element;
  std::vector<component> delivered;  ///< In the order of the ports.
  int64_t rows = 0;                  ///< Number of rows in one step.
};

expected<fed> feeds_of(const prepared_job& job, const plan_node& replica,
                       const std::vector<int64_t>& rows_of_programs) {
  fed all;
  for (const auto* e : job.plan.edges_to(replica.id)) {
    const auto rows = rows_by(job, *e, rows_of_programs);
    if (!rows)
      return fail(rows.error());
    if (all.rows != 0 && *rows != all.rows)
      return fail(errc::invalid_argument, "'" + replica.name + "' is fed " + std::to_string(all.rows)
                                              + " rows a step, and '" + job.plan.at(e->from).name + "." + e->out
                                              + "' has " + std::to_string(*rows) + " for it");
    all.rows = *rows;
    auto carried = carried_by(job, *e);
    for (const auto& c : carried)
      if (std::any_of(all.delivered.begin(), all.delivered.end(),
                      [&](const component& other) { return other.name == c.name; }))
        return fail(errc::invalid_argument, "'" + replica.name + "' is fed '" + c.name + "' by two of its ports");
    const auto& source = job.plan.at(e->from);
    const auto element = source.dataset ? element_by(job, *e) : element_spec{carried, {}};
    all.element.features.insert(all.element.features.end(), element.features.begin(), element.features.end());
    all.element.labels.insert(all.element.labels.end(), element.labels.begin(), element.labels.end());
    all.delivered.insert(all.delivered.end(), std::make_move_iterator(carried.begin()),
                         std::make_move_iterator(carried.end()));
  }
  std::sort(all.element.features.begin(), all.element.features.end(),
            [](const component& a, const component& b) { return a.name < b.name; });
  return all;
}

/// Whether all programs whose outputs this program reads have been prepared. Programs never form a cycle.
bool is_ready(const prepared_job& job, size_t program, const std::vector<int64_t>& rows_of_programs) {
  for (const auto* e : job.plan.edges_to(job.plan.replicas_of(program).front()->id))
    if (const auto& source = job.plan.at(e->from); source.program && rows_of_programs[*source.program] == 0)
      return false;
  return true;
}

/// Registers the model's trainable variables with the warm start. If it freezes variables, makes those that it sets not
/// trainable.
expected<void> begin_with(start_values& start, graph& g, mode m) {
  bool any = false, left = false;
  for (auto& v : contents_of(g).variables) {
    if (!v.options.trainable)
      continue;
    start.add_trainable(v.options.name);
    any = true;
    if (m == mode::train && start.freezes() && start.takes(v.options.name))
      v.options.trainable = false;
    left = left || v.options.trainable;
  }
  return !any || left ? expected<void>{}
                      : fail(errc::invalid_argument,
                             "warm_start.freeze: every trainable variable is taken, and none is left to train");
}

/// The graphs built for a job. A model function is called once for each mode and structure of the data.
class built_graphs {
 public:
  /// `start` may be null; otherwise it receives the names of the graph's trainable variables.
  expected<std::shared_ptr<const model_graph>> get(const std::shared_ptr<const model>& source,
                                                   const element_spec& element, mode m, start_values* start) {
    for (const auto& b : all_)
      if (b.source == source && b.m == m && b.element == element)
        return b.graph;
    auto graph = build_graph(*source, element, m);
    if (!graph)
      return fail(graph.error());
    if (auto left = start ? begin_with(*start, (*graph)->g, m) : expected<void>{}; !left)
      return fail(left.error());
    return all_.emplace_back(built{source, element, m, std::move(*graph)}).graph;
  }

 private:
  struct built {
    std::shared_ptr<const model> source;
    element_spec element;
    mode m;
    std::shared_ptr<const model_graph> graph;
  };
  std::vector<built> all_;
};

/// The number of threads for each replica of a program. Replicas of all programs with the same mode share the
/// processors, since they run at the same time: in a search, those of all groups. A pinned replica has one processor,
/// and therefore one thread unless the configuration says otherwise; its helpers are not pinned.
shared_threads threads_of(const prepared_job& job, const plan_program& of) {
  const auto& config = job.basis().config;
  const bool pinned = config.pin_replicas && of.mode == mode::train;
  if (config.intra_op_threads > 0 || pinned)
    return {std::max(1, config.intra_op_threads), false, pinned ? job.processors : std::vector<int32_t>{}};
  const auto beside = std::count_if(job.plan->nodes.begin(), job.plan->nodes.end(), [&](const plan_node& n) {
    return n.what == role::replica && job.plan->programs[*n.program].mode == of.mode;
  });
  return {std::max(1, job.basis().processors / static_cast<int32_t>(beside)), true};
}

/// Where a model carries states, row i of a batch has to go on where row i of the batch before ended.
expected<void> check_streams(const prepared_job& job, const std::vector<const plan_node*>& replicas,
                             const model_graph& built, int64_t rows) {
  const auto states = carried_states(contents_of(built.g));
  if (states.empty())
    return {};
  for (const auto* replica : replicas)
    for (const auto* e : job.plan.edges_to(replica->id)) {
      const auto& source = job.plan.at(e->from);
      if (!source.dataset)
        continue;
      const auto& data = job.datasets[*source.dataset];
      const auto inputs = std::ssize(data.inputs);
      if (const int64_t n = data.of(source.index).last_stage()->streams() * inputs; n != 0 && n != rows)
        return fail(errc::invalid_argument,
                    "the model carries " + quoted(states.front().options.name) + " from batch to batch, and "
                        + (inputs > 1 ? "the data of " + source.name : "its data") + " are "
                        + std::to_string(n / inputs) + " streams in batches of " + std::to_string(rows / inputs)
                        + ": a row would go on with another stream; use streams(" + std::to_string(rows / inputs)
                        + ")");
    }
  return {};
}

/// What the engines of a program need to keep its outputs.
struct usable_cache {
  program_engine_options loss;  ///< Of the program that computes the loss from an output.
  std::string loss_reads;       ///< The name of that output.
  size_t rows_component = 0;
  int64_t source_rows = 0;

  /// Without memory for the rows, an engine that computes them again: it has the same bits.
  expected<std::unique_ptr<step_engine>> make_engine(const program_engine_options& plain) const {
    auto options = plain;
    const auto shown = options.expose.size();
    const auto read = std::find(options.expose.begin(), options.expose.end(), loss_reads) - options.expose.begin();
    if (static_cast<size_t>(read) == shown)
      options.expose.push_back(loss_reads);
    const auto extra = options.expose.size() - shown;
    auto computed = make_program_engine(std::move(options));
    if (!computed)
      return computed;
    auto of_loss = make_program_engine(loss);
    if (!of_loss)
      return of_loss;
    auto made = make_cached_engine({.computed = std::move(*computed),
                                    .extra = extra,
                                    .loss = std::move(*of_loss),
                                    .loss_reads = static_cast<size_t>(read),
                                    .rows_component = rows_component,
                                    .source_rows = source_rows});
    return made || made.error().category != errc::resource_exhausted ? std::move(made) : make_program_engine(plain);
  }
};

/// Absent where outputs cannot be kept: a row depends on others, or all rows need too much memory.
expected<std::optional<usable_cache>> cache_of(const row_cache_plan& wanted, const fed& in, const model_graph& built,
                                               std::vector<std::string> exposed, const program_engine_options& of,
                                               built_graphs& graphs) {
  if (std::find(exposed.begin(), exposed.end(), wanted.loss_reads) == exposed.end())
    exposed.push_back(wanted.loss_reads);
  std::vector<int32_t> roots;
  std::vector<component> kept;
  for (const auto& name : exposed) {
    const symbol value = built.spec.predictions.at(name);
    roots.push_back(value.node());
    std::vector<int64_t> dims;
    for (size_t axis = 1; axis < value.dims().size(); ++axis)
      dims.push_back(value.dims()[axis].coefficient);
    kept.push_back({name, value.type(), shape{std::span<const int64_t>{dims}}});
  }
  const auto rows = std::find_if(in.delivered.begin(), in.delivered.end(),
                                 [&](const component& c) { return c.name == wanted.rows_feature; });
  if (rows == in.delivered.end() || !rows_are_apart(built.g, roots) || !carried_states(contents_of(built.g)).empty()
      || row_cache_bytes(kept, wanted.source_rows) > wanted.bytes_max)
    return std::nullopt;
  const auto reads = *std::find_if(kept.begin(), kept.end(),
                                   [&](const component& c) { return c.name == wanted.loss_reads; });
  auto element = in.element;
  element.features.push_back(reads);
  const auto graph = graphs.get(wanted.loss, element, mode::train, nullptr);
  if (!graph)
    return fail(graph.error());
  auto layout = layout_of(**graph);
  if (!layout)
    return fail(layout.error());
  auto store = parameter_store::create(std::move(*layout), 1);
  if (!store)
    return fail(store.error());
  usable_cache made{of, wanted.loss_reads, static_cast<size_t>(rows - in.delivered.begin()), wanted.source_rows};
  made.loss.graph = *graph;
  made.loss.delivered.push_back(reads);
  made.loss.store = std::move(*store);
  made.loss.measure = measuring::never;
  return made;
}

expected<prepared_program> plan_program_of(prepared_job& job, size_t number, std::shared_ptr<const model> source,
                                           const row_cache_plan* cache, std::vector<int64_t>& rows_of_programs,
                                           built_graphs& graphs) {
  const auto& config = job.basis().config;
  const auto& planned = job.plan->programs[number];
  const auto& replicas = job.plan.replicas_of(number);
  const auto in = feeds_of(job, *replicas.front(), rows_of_programs);
  if (!in)
    return fail(in.error());
  rows_of_programs[number] = in->rows;
  // Only replicas that train share a batch; others are dealt whole ones, and read the whole store.
  const auto count = planned.mode == mode::train ? static_cast<int32_t>(replicas.size()) : 1;
  const auto shards = planned.mode == mode::train ? config.gradient_shards : 1;
  const auto refused = std::make_shared<std::optional<error>>();
  if (planned.mode == mode::predict)
    source = std::make_shared<const model>(choose_predictions(source, job.prediction().choice, in->rows, refused));
  const auto graph = graphs.get(source, in->element, planned.mode, job.start.get());
  if (!graph)
    // Returns the original error, without the source line that the graph adds.
    return fail(refused->value_or(graph.error()));
  const auto& built = *graph;
  const bool all_get_all = job.plan.edges_to(replicas.front()->id).front()->how == divide::broadcast;
  const int64_t rows_of_step = all_get_all ? in->rows : in->rows * count;
  if (auto aligned = check_streams(job, replicas, *built, rows_of_step); !aligned)
    return fail(aligned.error());
  auto layout = layout_of(*built, in->rows * count);
  if (!layout)
    return fail(layout.error());
  auto store = parameter_store::create(std::move(*layout), planned.mode == mode::train && job.plan.saves() ? 2 : 1);
  if (!store)
    return fail(store.error());
  prepared_program program{.parameters = *store, .rows = rows_of_step};
  program.carries = !carried_states(contents_of(built->g)).empty();
  if (const auto infeeds = job.plan.all(role::infeed, replicas.front()->driver).size();
      program.carries && planned.mode != mode::train && infeeds > 1)
    return fail(errc::invalid_argument,
                "the model carries states from batch to batch, and its evaluation reads them on "
                    + std::to_string(infeeds) + " hosts: evaluate it on one");
  const std::string search_loss{search_loss_prediction};
  const program_engine_options for_all{built,
                                       in->delivered,
                                       program.parameters,
                                       0,
                                       count,
                                       shards,
                                       in->rows,
                                       config.seed,
                                       threads_of(job, planned),
                                       config.recompute,
                                       planned.mode == mode::train ? measuring_of(config) : measuring::never,
                                       {},
                                       built->spec.predictions.contains(search_loss) ? search_loss : std::string{},
                                       planned.mode == mode::train ? job.plan.group(planned.group).begins_at : 0,
                                       job.switches.at(replicas.front()->driver).cancel};
  std::optional<usable_cache> keeps;
  if (cache && count == 1) {
    auto usable = cache_of(*cache, *in, *built, replicas.front()->out_ports, for_all, graphs);
    if (!usable)
      return fail(usable.error());
    keeps = std::move(*usable);
  }
  program.make_engine = [for_all, keeps](const plan_node& replica) {
    auto options = for_all;
    options.replica = options.replicas > 1 ? replica.index : 0;
    options.expose = replica.out_ports;
    return keeps ? keeps->make_engine(options) : make_program_engine(std::move(options));
  };
  for (const auto* n : replicas) {
    auto engine = program.make_engine(*n);
    if (!engine)
      return fail(engine.error());
    program.engines.push_back(std::move(*engine));
  }
  const auto& engine = *program.engines.front();
  program.exposed.assign(engine.exposed().begin(), engine.exposed().end());
  program.outputs.assign(engine.outputs().begin(), engine.outputs().end());
  program.measured = engine.measured();
  program.observables = engine.observables();
  program.metrics = engine.metrics();
  program.summaries = engine.summaries();
  program.calls = engine.calls();
  if (count > 1 && planned.mode == mode::train) {
    const std::shared_ptr<const parameter_layout> shared{program.parameters, &program.parameters->layout()};
    if (job.plan.edges_from(replicas.front()->id, edge_kind::gradient).empty())
      return collective::plan(shared, count, engine.norm_chunks()).map([&](auto meeting) {
        program.collective = std::move(meeting);
        return std::move(program);
      });
    auto sums = gradient_reduction::plan(shared, count);
    if (!sums)
      return fail(sums.error());
    program.reduction = std::make_shared<gradient_reduction>(std::move(*sums));
  }
  return program;
}

}  // namespace

/// Builds each program after the programs whose outputs it reads.
expected<void> build_programs(prepared_job& job, const plan_resources& from) {
  const auto& models = from.models;
  std::vector<int64_t> rows_of_programs(models.size());
  job.programs.resize(models.size());
  built_graphs graphs;
  for (size_t built = 0; built < models.size();)
    for (size_t p = 0; p < models.size(); ++p)
      if (rows_of_programs[p] == 0 && is_ready(job, p, rows_of_programs)) {
        const auto cache = from.caches.find(p);
        auto program = plan_program_of(job, p, models[p], cache == from.caches.end() ? nullptr : &cache->second,
                                       rows_of_programs, graphs);
        if (!program)
          return fail(program.error());
        job.programs[p] = std::move(*program);
        ++built;
      }
  return {};
}

}  // namespace troupe
