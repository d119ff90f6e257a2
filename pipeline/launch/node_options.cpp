#include "pipeline/launch/node_options.hpp"

#include "compute/kernels/numerics.hpp"
#include "ensemble/names.hpp"
#include "input/streams/open_input.hpp"
#include "pipeline/plan/search_groups.hpp"
#include "pipeline/plan/search_plan.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// The part of a batch that an edge of an infeed carries. The readers in one group may divide a batch among them.
infeed_options::edge share_of(const checked_plan& plan, const plan_edge& e) {
  infeed_options::edge share{.id = e.id};
  if (e.how == divide::broadcast)
    return share;
  share.readers = 0;
  for (const auto* other : plan.edges_from(e.from))
    if (other->how == e.how && plan.at(other->to).group == plan.at(e.to).group) {
      if (other->id == e.id)
        share.reader = share.readers;
      ++share.readers;
    }
  return share;
}

/// Which batches of an evaluation or a prediction an infeed reads: they are dealt to the infeeds of its driver.
batch_share share_of_infeed(const checked_plan& plan, const plan_node& infeed) {
  return {infeed.index, std::ssize(plan.all(role::infeed, infeed.driver))};
}

/// Which of them a replica computes: what an infeed reads is dealt to its readers.
batch_share share_of_replica(const prepared_job& job, const plan_node& replica) {
  const auto& plan = job.plan;
  if (job.programs[*replica.program].carries)
    return {};
  const auto& edge = *plan.edges_to(replica.id).front();
  const auto of_infeed = share_of_infeed(plan, plan.at(edge.from));
  const auto by = share_of(plan, edge);
  return {of_infeed.number_of(by.reader), of_infeed.every * by.readers};
}

bool trains(const checked_plan& plan, const plan_node& replica) {
  return plan->programs[*replica.program].mode == mode::train;
}

/// Where a model carries states from batch to batch, one replica computes all batches of an evaluation.
bool is_dealt_to(const prepared_job& job, const plan_node& replica) {
  return trains(job.plan, replica) || !job.programs[*replica.program].carries || replica.index == 0;
}

}  // namespace

infeed_options infeed_options_of(const std::shared_ptr<prepared_job>& job, const plan_node& node) {
  const auto& plan = job->plan;
  infeed_options options;
  options.id = node.id;
  options.name = node.name;
  options.position = position_key(node);
  if (node.own)
    options.own_of = node.own->who;
  auto iterate = job->datasets[*node.dataset].iterate;
  iterate.host = node.index;
  options.open = [job, dataset = *node.dataset, iterate]() -> expected<std::unique_ptr<dataset_iterator>> {
    auto& data = job->datasets[dataset];
    const auto infeed = static_cast<size_t>(iterate.host);
    if (infeed < data.first.size() && data.first[infeed])
      return std::move(data.first[infeed]);
    return open_input(data.of(iterate.host), iterate);
  };
  for (const auto* e : plan.edges_from(node.id)) {
    if (!is_dealt_to(*job, plan.at(e->to)))
      continue;
    options.edges.push_back(share_of(plan, *e));
    options.block_bytes_max = std::min(options.block_bytes_max, *e->credit.bytes);
    if (e->how == divide::each && trains(plan, plan.at(e->to)))
      options.batches_per_step = options.edges.back().readers;
    if (!trains(plan, plan.at(e->to))) {
      options.deals = true;
      options.share = share_of_infeed(plan, node);
      options.edges.back().reader = 0;
      options.edges.back().readers = 1;  // Whole batches.
    }
  }
  options.ends_steps = node.stops_at_infeeds;
  if (const auto* training = std::get_if<training_job>(&job->job))
    options.data_may_change = training->input_changed == input_change::anew;
  const auto& switches = job->switches.at(node.driver);
  options.stop = node.own ? switches.stop_own : switches.stop;
  return options;
}

replica_options replica_options_of(const prepared_job& job, const plan_node& node) {
  const auto& program = job.programs[*node.program];
  replica_options options;
  options.id = node.id;
  options.name = node.name;
  options.index = node.index;
  options.replicas = static_cast<int32_t>(job.plan.replicas_of(*node.program).size());
  options.mode = job.plan->programs[*node.program].mode;
  if (!trains(job.plan, node))
    options.share = share_of_replica(job, node);
  options.debug_numerics = job.basis().config.debug_numerics;
  options.ends_where_not_finite = options.mode == mode::train
                                  && job.plan.group(node.group).on_not_finite == not_finite::stop;
  options.log_every = job.basis().config.log_steps;
  if (options.mode == mode::train)
    options.told_at_saves = job.plan.group(node.group).told_at_saves;
  for (const auto* e : job.plan.edges_to(node.id)) {
    auto& in = options.in_edges.emplace_back(
        replica_options::in_edge{e->id, {}, *e->credit.messages, *e->credit.bytes});
    in.until_retired = job.plan.at(e->from).own.has_value();
    for (const auto& c : carried_by(job, *e))
      in.row_bytes.push_back(c.row_bytes());
  }
  for (const auto& port : node.out_ports) {
    auto& readers = options.out_edges.emplace_back();
    for (const auto* e : job.plan.edges_from(node.id))
      if (e->out == port)
        readers.push_back(e->id);
  }
  for (const auto* e : job.plan.edges_from(node.id, edge_kind::call))
    options.calls = e->id;
  options.reports_when_waiting = has_host_calls(job.plan, node.driver);
  options.engine = program.engines[static_cast<size_t>(node.index)];
  options.collective = program.collective;
  if (job.basis().processors >= options.replicas)
    options.looks = 1000;  // Some 40 µs; a message that wakes takes 10.
  if (options.mode == mode::train && program.measures())
    options.measure = measuring_of(job.basis().config);
  return options;
}

reported_group reported_group_of(const prepared_job& job, size_t program, node_id driver) {
  reported_group group;
  for (const auto* r : job.plan.replicas_of(program)) {
    if (!is_dealt_to(job, *r))
      continue;
    auto& source = group.replicas.emplace_back(report_source{r->id, r->name});
    for (const auto* e : job.plan.edges_from(r->id, edge_kind::call))
      source.calls = e->id;
    if (!trains(job.plan, *r))
      source.share = share_of_replica(job, *r);
  }
  const auto& made = job.programs[program];
  group.mode = job.plan->programs[program].mode;
  group.calls = made.calls;
  if (job.plan->programs[program].mode == mode::train) {
    const auto& of = job.plan.group(job.plan->programs[program].group);
    group.id = of.id;
    group.name = of.name;
    group.told_at_saves = of.told_at_saves;
    group.outputs = made.outputs;
    group.observables = made.observables;
    group.measured = made.measured;
    group.metrics = made.metrics;
    group.where = of.summaries;
    group.retires_at = of.retires_at;
  }
  if (job.plan.find(role::summary_writer, driver))
    group.summaries = made.summaries;
  for (auto& recipe : group.summaries.all)
    if (const auto scope = group.where.scope + "/"; recipe.tag.starts_with(scope) && scope != "/")
      recipe.tag.erase(0, scope.size());
  return group;
}

outfeed_options outfeed_options_of(const prepared_job& job, const plan_node& node) {
  outfeed_options options;
  options.name = node.name;
  options.log_every = job.basis().config.log_steps;
  for (const auto program : job.plan.reported_by(node.driver)) {
    options.groups.push_back(reported_group_of(job, program, node.driver));
    if (job.plan->programs[program].mode == mode::train) {
      options.loops = true;
      options.rows = job.programs[program].rows;
    }
  }
  if (const auto* training = std::get_if<training_job>(&job.job); training && training->search) {
    const auto books = books_of_plan(job);
    options.leader = leading_group(choice_rules_of(*training->search), books);
    options.constants = {{std::string{iteration_tag}, static_cast<double>(books.iteration())}};
  }
  return options;
}

summary_writer_options summary_writer_options_of(const prepared_job& job, const plan_node& node) {
  const auto& basis = job.basis();
  const bool of_evaluations = node.what == role::eval_summary_writer;
  summary_writer_options options;
  options.id = node.id;
  options.name = node.name;
  options.of_evaluations = of_evaluations;
  if (const auto* training = std::get_if<training_job>(&job.job); training && training->session && !of_evaluations) {
    options.notes_end = training->session->notes_end;
    options.port = training->session->port;
  }
  options.awaits_start = !of_evaluations;
  options.files = basis.files;
  options.directory = *basis.config.model_dir;
  if (of_evaluations)
    options.folder = job.evaluation(node.index).folder();
  options.claim = job.claim;
  options.host = job.host;
  options.wall_offset = job.wall_offset;
  return options;
}

checkpoint_writer_options checkpoint_writer_options_of(const prepared_job& job, const plan_node& node) {
  const auto& config = job.basis().config;
  checkpoint_writer_options options;
  options.id = node.id;
  options.name = node.name;
  options.files = job.basis().files;
  options.directory = config.model_dir.value_or("");
  options.store.keep_checkpoint_max = config.keep_checkpoint_max;
  options.claim = job.claim;
  options.store.keep_checkpoint_every_n_hours = config.keep_checkpoint_every_n_hours;
  options.wall_offset = job.wall_offset;
  options.lease_commits = job.plan.find(role::evaluator, node.driver) != nullptr;
  options.seed = config.seed;
  const auto* training = std::get_if<training_job>(&job.job);
  const auto session = training ? training->session : nullptr;
  if (job.start || (session && session->start)) {
    auto layouts = layouts_of(job);
    // Copies the layout: the checkpoint writer outlives the stores of this plan when the job grows into another plan.
    for (auto& of_group : layouts)
      of_group.layout = std::make_shared<parameter_layout>(*of_group.layout);
    options.start = [start = job.start, session, layouts = std::move(layouts)](uint64_t seed) {
      auto given = start ? start->read(layouts, seed) : expected<start_values::values>{};
      return given && session && session->start ? session->start(layouts, seed, std::move(*given)) : std::move(given);
    };
  }
  options.properties = {{"model", job.basis().source ? job.basis().source->name : "search"},
                        {"cpu_level", TROUPE_CPU_LEVEL},
                        {"numerics_version", std::to_string(numerics_version)},
                        {"gradient_shards", std::to_string(config.gradient_shards)},
                        {"replicas", std::to_string(config.replicas)},
                        {"seed", std::to_string(config.seed)}};
  return options;
}

evaluator_options evaluator_options_of(const prepared_job& job, const plan_node& node) {
  const auto& basis = job.basis();
  const auto& program = job.driven_by(node.id);
  evaluator_options options;
  options.name = node.name;
  options.files = basis.files;
  options.directory = basis.config.model_dir.value_or("");
  options.parameters = program.parameters;
  options.outputs = program.outputs;
  options.metrics = program.metrics;
  options.steps = job.evaluation(node.index).steps;
  options.hooks = job.evaluation(node.index).hooks;
  options.silence_max = basis.deadlines.silence;
  if (const auto* alone = std::get_if<evaluation_job>(&job.job); alone && alone->checkpoint.directory)
    options.directory = *alone->checkpoint.directory;
  if (const auto* training = std::get_if<training_job>(&job.job)) {
    options.exports = training->evaluations[static_cast<size_t>(node.index)].exports;
    options.rules = training->stop_early;
  } else if (const auto* follower = std::get_if<follower_job>(&job.job)) {
    options.exports = follower->evaluations[static_cast<size_t>(node.index)].exports;
    options.rules = follower->stop_early;
  }
  options.wall_offset = job.wall_offset;
  options.seed = basis.config.seed;
  options.start = job.start;
  return options;
}

predictor_options predictor_options_of(const prepared_job& job, const plan_node& node) {
  const auto& basis = job.basis();
  predictor_options options;
  options.name = node.name;
  options.board = job.predictions;
  options.files = basis.files;
  const auto& checkpoint = job.prediction().checkpoint;
  options.which = checkpoint.which;
  options.directory = checkpoint.directory.value_or(basis.config.model_dir.value_or(""));
  options.silence_max = basis.deadlines.silence;
  options.parameters = job.driven_by(node.id).parameters;
  options.seed = basis.config.seed;
  options.start = job.start;
  return options;
}

attempt_plan attempt_plan_of(const std::shared_ptr<const prepared_job>& job) {
  const bool grows = job->training().planner || job->training().search;
  attempt_plan made{{job, &job->plan},
                    {.iteration = job->plan->iteration, .one_of_several = grows, .growth = job->growth}};
  made.blobs = job->blobs;
  made.remarks = job->remarks;
  made.hooks = job->hooks;
  for (const auto* part : job->plan.parts())
    made.stored.parts.push_back({part->id, part->name});
  for (const auto& group : layouts_of(*job))
    made.stored.groups.push_back(stored_of(*group.layout, group.group, group.name));
  if (job->training().search)
    for (const auto& [name, number] : numbers_of(books_of_plan(*job)))
      made.stored.numbers.push_back(name);
  made.evaluated_groups = job->evaluated_groups;
  const auto chief = job->plan.find(role::chief, no_node)->id;
  for (const auto program : job->plan.reported_by(chief)) {
    const auto group = reported_group_of(*job, program, chief);
    for (const auto& o : group.outputs)
      made.outputs.push_back(group.prefixed(to_string(o)));
    for (const auto& o : group.observables)
      made.observed.push_back(group.prefixed(o.name));
  }
  return made;
}

chief_options chief_options_of(const prepared_job& job, const plan_node& node) {
  const auto& training = job.training();
  const auto& config = training.basis.config;
  chief_options options;
  options.id = node.id;
  options.name = node.name;
  options.board = job.board;
  options.max_steps = training.max_steps;
  options.steps = training.steps;
  options.checkpoints = job.plan.saves();
  options.session = training.session != nullptr;
  if (training.session)
    options.preempted = training.session->preempted;
  options.copies = training.session && training.session->copies;
  options.directory = config.model_dir.value_or("");
  options.save_steps = config.save_steps;
  options.save_secs = config.save_secs;
  options.loop = config.loop;
  options.log_perplexity = config.log_perplexity;
  for (size_t i = 0; i < job.programs.size(); ++i)
    if (job.plan->programs[i].mode == mode::train)
      options.rows = std::max(options.rows, job.programs[i].rows);
  if (job.books)
    options.planned_from = job.books->id;
  options.summary_steps = config.summary_steps;
  options.summary_secs = config.summary_secs;
  for (const auto& e : training.evaluations)
    options.evaluations.push_back(settings_of(e));
  options.judged = judgements_of(job, training.evaluations, training.stop_early, training.keep_best);
  options.evaluates_first = training.evaluates_first;
  if (training.search)
    options.search = rules_of(training);
  options.max_secs = training.max_secs;
  options.continues_data = training.continue_input;
  options.data_may_change = training.input_changed == input_change::anew;
  options.recovery = config.recovery;
  options.deadlines = training.basis.deadlines;
  options.hook_thread = training.hook_thread;
  return options;
}

callbacks_options callbacks_options_of(const prepared_job& job, const plan_node& node) {
  const auto& training = job.training();
  callbacks_options options;
  options.id = node.id;
  options.name = node.name;
  options.hooks = training.hooks;
  options.listeners = training.saving_listeners;
  options.log = training.log;
  if (training.session)
    options.runs = training.session->port;
  options.hook_thread = training.hook_thread;
  return options;
}

}  // namespace troupe
