#include "compute/graph/graph.hpp"
#include "compute/graph/model_graph.hpp"
#include "input/streams/open_input.hpp"
#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/prepared_job.hpp"
#include "storage/examination/examination.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <set>

namespace troupe {

const evaluation_data& prepared_job::evaluation(int32_t which) const {
  const auto* alone = std::get_if<evaluation_job>(&job);
  return alone ? alone->data : training().evaluations[static_cast<size_t>(which)].data;
}

prepared_program& prepared_job::in(mode m) {
  const auto p = std::find_if(plan->programs.begin(), plan->programs.end(), [m](const plan_program& x) { return x.mode == m; });
  return programs.at(static_cast<size_t>(p - plan->programs.begin()));
}

namespace {

/// Opens a dataset and determines the structure and batch size of its elements, which planning needs. An input that cannot
/// be opened is the first error of a job.
expected<prepared_dataset> open(const prepared_job& job, size_t number, const dataset& input) {
  const auto& planned = job.plan->datasets[number];
  const auto hosts = std::count_if(job.plan->nodes.begin(), job.plan->nodes.end(), [number](const plan_node& n) { return n.dataset == number; });
  prepared_dataset data{input, {job.basis().config.seed, planned.mode == mode::train, 0, static_cast<int32_t>(hosts)}, {}, 1, {}};
  auto iterator = open_input(input, data.iterate);
  if (!iterator)
    return fail(iterator.error());
  data.first = std::move(*iterator);
  data.element = data.first->spec();
  data.batch_rows = data.first->batch_rows();
  return data;
}

/// Rows that an edge carries for one step.
expected<int64_t> rows_by(const prepared_job& job, const plan_edge& e, const std::vector<int64_t>& rows_of_programs) {
  const auto& plan = job.plan;
  const auto& source = plan.at(e.from);
  if (source.program)
    return rows_of_programs[*source.program];
  const auto rows = job.datasets[*source.dataset].batch_rows;
  if (e.how != divide::split)
    return rows;
  const auto& others = plan.edges_from(e.from);
  const auto readers = std::count_if(others.begin(), others.end(), [&](const plan_edge* other) { return plan.at(other->to).group == plan.at(e.to).group; });
  if (rows % readers != 0)
    return fail(errc::invalid_argument, "a batch of " + std::to_string(rows) + " rows cannot be split evenly among " + std::to_string(readers)
                                          + " replicas");
  return rows / readers;
}

/// The input of one replica of a program, of all its ports together.
struct fed {
  element_spec element;
  std::vector<component> delivered;  ///< In the order of the ports.
  int64_t rows = 0;                  ///< Rows of one step.
};

expected<fed> feeds_of(const prepared_job& job, const plan_node& replica, const std::vector<int64_t>& rows_of_programs) {
  fed all;
  for (const auto* e : job.plan.edges_to(replica.id)) {
    const auto rows = rows_by(job, *e, rows_of_programs);
    if (!rows)
      return fail(rows.error());
    if (all.rows != 0 && *rows != all.rows)
      return fail(errc::invalid_argument, "'" + replica.name + "' is fed " + std::to_string(all.rows) + " rows a step, and '"
                                            + job.plan.at(e->from).name + "." + e->out + "' has " + std::to_string(*rows) + " for it");
    all.rows = *rows;
    auto carried = carried_by(job, *e);
    for (const auto& c : carried)
      if (std::any_of(all.delivered.begin(), all.delivered.end(), [&](const component& other) { return other.name == c.name; }))
        return fail(errc::invalid_argument, "'" + replica.name + "' is fed '" + c.name + "' by two of its ports");
    const auto& source = job.plan.at(e->from);
    const auto element = source.dataset ? job.datasets[*source.dataset].element : element_spec{carried, {}};
    all.element.features.insert(all.element.features.end(), element.features.begin(), element.features.end());
    all.element.labels.insert(all.element.labels.end(), element.labels.begin(), element.labels.end());
    all.delivered.insert(all.delivered.end(), std::make_move_iterator(carried.begin()), std::make_move_iterator(carried.end()));
  }
  std::sort(all.element.features.begin(), all.element.features.end(), [](const component& a, const component& b) { return a.name < b.name; });
  return all;
}

/// Whether the programs whose outputs this program reads have been prepared; there is no cycle.
bool is_ready(const prepared_job& job, size_t program, const std::vector<int64_t>& rows_of_programs) {
  for (const auto* e : job.plan.edges_to(job.plan.replicas_of(program).front()->id))
    if (const auto& source = job.plan.at(e->from); source.program && rows_of_programs[*source.program] == 0)
      return false;
  return true;
}

/// Tells a warm start which variables the model trains, and freezes those that it takes, where that is wanted.
expected<void> begin_with(start_values& start, graph& g, mode m) {
  bool any = false, left = false;
  for (auto& v : g.internals().variables) {
    if (!v.options.trainable)
      continue;
    start.add_trainable(v.options.name);
    any = true;
    if (m == mode::train && start.freezes() && start.takes(v.options.name))
      v.options.trainable = false;
    left = left || v.options.trainable;
  }
  return !any || left ? expected<void>{} : fail(errc::invalid_argument, "warm_start.freeze: every trainable variable is taken, and none is left to train");
}

/// The graphs that were built for a job: a model function is called once for each mode and structure of the data.
class built_graphs {
 public:
  /// `start`, which may be null, is told of its variables.
  expected<std::shared_ptr<const model_graph>> get(const std::shared_ptr<const model>& source, const element_spec& element, mode m, start_values* start) {
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

/// The threads of each replica of a program. Those of the same mode run at the same time: the groups of a search with their replicas.
shared_threads threads_of(const prepared_job& job, const plan_program& of) {
  if (const auto given = job.basis().config.intra_op_threads; given > 0)
    return {given, false};
  const auto beside = std::count_if(job.plan->nodes.begin(), job.plan->nodes.end(), [&](const plan_node& n) {
    return n.what == role::replica && job.plan->programs[*n.program].mode == of.mode;
  });
  return {std::max(1, job.basis().processors / static_cast<int32_t>(beside)), true};
}

expected<prepared_program> plan_program_of(prepared_job& job, size_t number, std::shared_ptr<const model> source, std::vector<int64_t>& rows_of_programs,
                                           built_graphs& graphs) {
  const auto& config = job.basis().config;
  const auto& planned = job.plan->programs[number];
  const auto& replicas = job.plan.replicas_of(number);
  const auto in = feeds_of(job, *replicas.front(), rows_of_programs);
  if (!in)
    return fail(in.error());
  rows_of_programs[number] = in->rows;
  const auto count = static_cast<int32_t>(replicas.size());
  const auto shards = planned.mode == mode::train ? config.gradient_shards : 1;
  const auto refused = std::make_shared<std::optional<error>>();
  if (planned.mode == mode::predict)
    source = std::make_shared<const model>(choose_predictions(source, job.prediction().choice, in->rows, refused));
  const auto graph = graphs.get(source, in->element, planned.mode, job.start.get());
  if (!graph)
    return fail(refused->value_or(graph.error()));  // The error itself, without the source line that the graph adds.
  const auto& built = *graph;
  auto layout = layout_of(*built);
  if (!layout)
    return fail(layout.error());
  auto store = parameter_store::create(std::move(*layout), planned.mode == mode::train && job.plan.saves() ? 2 : 1);
  if (!store)
    return fail(store.error());
  prepared_program program{.parameters = *store};
  const program_engine_options for_all{built, in->delivered, program.parameters, 0, count, shards, in->rows, config.seed,
                                       threads_of(job, planned), config.recompute, planned.mode == mode::train ? measuring_of(config) : measuring::never, {},
                                       job.switches.at(replicas.front()->driver).cancel};
  program.make_engine = [for_all](const plan_node& replica) {
    auto options = for_all;
    options.replica = replica.index;
    options.expose = replica.out_ports;
    return make_program_engine(std::move(options));
  };
  for (const auto* n : replicas) {
    auto engine = program.make_engine(*n);
    if (!engine)
      return fail(engine.error());
    program.engines.push_back(std::move(*engine));
  }
  const auto exposed = program.engines.front()->exposed();
  program.exposed.assign(exposed.begin(), exposed.end());
  program.measures = !program.engines.front()->measured().empty();
  if (count > 1 && planned.mode == mode::train) {
    auto sums = gradient_reduction::plan({program.parameters, &program.parameters->layout()}, count);
    if (!sums)
      return fail(sums.error());
    program.reduction = std::make_shared<gradient_reduction>(std::move(*sums));
  }
  return program;
}

/// The groups by the names of their variables, which need to differ, since a checkpoint stores all of them by name.
expected<std::map<std::string, group_id>> variable_owners(const prepared_job& job) {
  std::map<std::string, group_id> owners;
  for (const auto& group : layouts_of(job))
    for (const auto& e : group.layout->entries())
      if (const auto [owner, added] = owners.emplace(e.name, group.group); !added)
        return fail(errc::invalid_argument, "variable '" + e.name + "' is of two groups, '" + job.plan.group(owner->second).name + "' and '" + group.name
                                              + "': build each model in a scope of its own");
  return owners;
}

/// The groups whose variables each evaluation beside training loads.
expected<void> find_evaluated_groups(prepared_job& job, const std::map<std::string, group_id>& owners) {
  const auto* training = std::get_if<training_job>(&job.job);
  const auto* chief = job.plan.find(role::chief, no_node);
  if (!training || !chief)
    return {};
  const auto& evaluators = job.plan.all(role::evaluator, chief->id);
  if (evaluators.size() != training->evaluations.size())
    return fail(errc::invalid_argument, "the plan lists " + std::to_string(evaluators.size()) + " evaluators, and the job has "
                                          + std::to_string(training->evaluations.size()) + " evaluations: it needs one for each");
  for (const auto* node : evaluators) {
    std::set<group_id> found;
    for (const auto& e : job.driven_by(node->id).parameters->layout().entries())
      if (const auto owner = owners.find(e.name); owner != owners.end())
        found.insert(owner->second);
    job.evaluated_groups.emplace_back(found.begin(), found.end());
  }
  return {};
}

/// The names of the metrics of an evaluation.
std::vector<std::string> metrics_of(const prepared_job& job, size_t which) {
  const auto& node = *job.plan.all(role::evaluator, job.plan.find(role::chief, no_node)->id)[which];
  std::vector<std::string> names{"global_step", "loss"};
  for (const auto& o : job.driven_by(node.id).engines.front()->outputs())
    if (o.what == program_output::kind::metric_sum && std::find(names.begin(), names.end(), o.name) == names.end())
      names.push_back(o.name);
  std::sort(names.begin(), names.end());
  return names;
}

/// invalid_argument where `who` asks for an evaluation or a metric that the job has not.
expected<void> check_metric(const prepared_job& job, const std::string& who, const std::string& evaluation, const std::optional<std::string>& metric) {
  const auto& all = job.training().evaluations;
  const auto found = std::find_if(all.begin(), all.end(), [&](const evaluation_policy& e) { return e.data.name == evaluation; });
  if (found == all.end())
    return fail(errc::invalid_argument, who + " needs an evaluation" + (evaluation.empty() ? " without a name" : " named '" + evaluation + "'") + "; there "
                                          + (all.empty() ? "is none" : "are: " + joined(all, ", ", [](const evaluation_policy& e) {
                                              return e.data.name.empty() ? "one without a name" : "'" + e.data.name + "'";
                                            })));
  const auto names = metrics_of(job, static_cast<size_t>(found - all.begin()));
  if (metric && std::find(names.begin(), names.end(), *metric) == names.end())
    return fail(errc::invalid_argument, who + " asks for the metric '" + *metric + "', which the evaluation does not have; it has " + joined(names));
  return {};
}

expected<void> check_judgements(const prepared_job& job) {
  const auto* training = std::get_if<training_job>(&job.job);
  if (!training)
    return {};
  for (const auto& rule : training->stop_early) {
    const auto metric = rule.what == stop_rule::kind::predicate ? std::nullopt : std::optional{rule.metric};
    if (auto possible = check_metric(job, "the rule '" + to_text(rule) + "'", rule.options.evaluation, metric); !possible)
      return possible;
  }
  return training->keep_best ? check_metric(job, "keep_best", training->keep_best->evaluation, training->keep_best->metric) : expected<void>{};
}

/// What earlier runs of the job have left of its evaluations: for rules, for the best checkpoint, and so that a finished job evaluates nothing again.
expected<void> read_histories(prepared_job& job) {
  const auto* training = std::get_if<training_job>(&job.job);
  if (!training)
    return {};
  const bool needed = !training->stop_early.empty() || (training->keep_best && training->keep_best->restore_best);
  const bool finished = job.books && training->max_steps && job.books->id.step >= *training->max_steps;
  for (size_t i = 0; (needed || finished) && i < training->evaluations.size(); ++i) {
    auto history = read_evaluations(*job.basis().files, join_path(*job.basis().config.model_dir, training->evaluations[i].data.folder()));
    if (!history && needed)
      return fail(history.error());
    job.histories.push_back(history ? std::move(*history) : evaluation_history{});
  }
  return {};
}

/// A training that will begin anew learns before it does what is wrong with its warm start.
expected<void> check_start(const prepared_job& job) {
  if (!job.start || job.books || !std::holds_alternative<training_job>(job.job))
    return {};
  return job.start->check(layouts_of(job));
}

/// What cannot be resumed is refused before a model is planned; the checkpoint writer refuses it too, if it comes in between.
expected<void> check_books(const job_books& books, const plan_iteration& planned) {
  if (books && books->id.iteration > planned.number)
    return fail(errc::failed_precondition, books->prefix + " is of iteration " + std::to_string(books->id.iteration)
                                             + " of a search, and this job of iteration " + std::to_string(planned.number)
                                             + ": go on with the search, or train into another directory");
  return {};
}

}  // namespace

std::vector<group_layout> layouts_of(const prepared_job& job) {
  std::vector<group_layout> all;
  for (size_t p = 0; p < job.programs.size(); ++p)
    if (const auto& program = job.plan->programs[p]; program.mode == mode::train)
      all.push_back({program.group, {job.programs[p].parameters, &job.programs[p].parameters->layout()}, job.plan.group(program.group).name});
  return all;
}

std::vector<component> carried_by(const prepared_job& job, const plan_edge& edge) {
  const auto& source = job.plan.at(edge.from);
  if (source.dataset)
    return job.datasets[*source.dataset].element.components();
  const auto port = std::find(source.out_ports.begin(), source.out_ports.end(), edge.out) - source.out_ports.begin();
  auto c = job.programs[*source.program].exposed[static_cast<size_t>(port)];
  c.name = edge.in;
  return {c};
}

expected<std::shared_ptr<prepared_job>> prepare(any_job settled) {
  auto books = books_of(settled);
  if (!books)
    return fail(books.error());
  auto planned = plan_of(settled, std::move(*books));
  if (!planned)
    return fail(planned.error());
  return prepare(std::move(settled), std::move(*planned));
}

expected<std::shared_ptr<prepared_job>> prepare(any_job settled, planned_job planned) {
  if (basis_of(settled).config.on_not_finite == not_finite::stop)  // The job's setting is that of its group, and is refused where there are several.
    for (auto& g : planned.plan.groups)
      g.on_not_finite = not_finite::stop;
  auto plan = checked_plan::of(std::move(planned.plan));
  if (!plan)
    return fail(plan.error());
  if (planned.resources.models.size() != (*plan)->programs.size() || planned.resources.datasets.size() != (*plan)->datasets.size())
    return fail(errc::invalid_argument, "the plan lists " + std::to_string((*plan)->programs.size()) + " programs and "
                                          + std::to_string((*plan)->datasets.size()) + " datasets; " + std::to_string(planned.resources.models.size())
                                          + " models and " + std::to_string(planned.resources.datasets.size()) + " datasets came with it");
  if (auto possible = check_books(planned.books, (*plan)->iteration); !possible)
    return fail(possible.error());
  auto job = std::make_shared<prepared_job>(prepared_job{.job = std::move(settled)});
  job->plan = std::move(*plan);
  job->books = std::move(planned.books);
  job->growth = std::move(planned.growth);
  if (const auto& settings = job->basis().start)
    job->start = std::make_shared<start_values>(job->basis().files, *settings);
  job->switches[no_node];
  for (const auto& n : job->plan->nodes)
    job->switches[n.driver];
  for (size_t d = 0; d < planned.resources.datasets.size(); ++d) {
    auto data = open(*job, d, planned.resources.datasets[d]);
    if (!data)
      return fail(data.error());
    job->datasets.push_back(std::move(*data));
  }
  const auto& models = planned.resources.models;
  std::vector<int64_t> rows_of_programs(models.size());
  job->programs.resize(models.size());
  built_graphs graphs;
  for (size_t prepared = 0; prepared < models.size();)
    for (size_t p = 0; p < models.size(); ++p)
      if (rows_of_programs[p] == 0 && is_ready(*job, p, rows_of_programs)) {
        auto program = plan_program_of(*job, p, models[p], rows_of_programs, graphs);
        if (!program)
          return fail(program.error());
        job->programs[p] = std::move(*program);
        ++prepared;
      }
  if (auto possible = variable_owners(*job)
                        .and_then([&](const auto& owners) { return find_evaluated_groups(*job, owners); })
                        .and_then([&] { return check_start(*job); })
                        .and_then([&] { return check_judgements(*job); })
                        .and_then([&] { return read_histories(*job); });
      !possible)
    return fail(possible.error());
  return job;
}

}  // namespace troupe
