#include "pipeline/plan/search_plan.hpp"

#include "ensemble/graphs/outputs.hpp"
#include "ensemble/names.hpp"
#include "input/streams/open_input.hpp"
#include "input/streams/row_numbers.hpp"
#include "pipeline/plan/deployed_inputs.hpp"
#include "pipeline/plan/own_data.hpp"
#include "pipeline/plan/plan_maker.hpp"
#include "pipeline/plan/search_groups.hpp"
#include "pipeline/plan/search_growth.hpp"

namespace troupe {

namespace {

expected<void> check(const training_job& job) {
  if (job.hosts != 1)
    return fail(errc::unimplemented, "a search runs on one host, not on " + std::to_string(job.hosts));
  if (job.basis.config.input_mode != input_mode::per_host)
    return fail(errc::unimplemented, "a search reads its data with the input mode per_host, not with "
                                         + std::string{to_string(job.basis.config.input_mode)} + " (run.input_mode)");
  if (job.basis.config.on_not_finite == not_finite::stop)
    return fail(errc::invalid_argument,
                "a search cannot end before a step that is not finite (on_not_finite = stop), as its other candidates "
                "go on: on_candidate_not_finite says what becomes of a candidate");
  return validate(*job.search).and_then([&] { return validate(rules_of(job)); });
}

/// The books of the search in a checkpoint's books; empty ones if there is no checkpoint.
expected<search_books> read_books(const job_books& books) {
  if (!books)
    return search_books{};
  const auto blob = books->blobs.find(std::string{search_books_blob});
  if (blob == books->blobs.end())
    return fail(errc::failed_precondition,
                books->prefix + " is of a job that is no search: go on with that job, or search in another directory");
  auto read = parse_books(blob->second, books->prefix);
  if (read && read->iteration() != books->id.iteration && read->iteration() != books->id.iteration + 1)
    return fail(errc::data_loss, books->prefix + " is of iteration " + std::to_string(books->id.iteration)
                                     + ", and has the books of iteration " + std::to_string(read->iteration()));
  return read;
}

/// The data of training.
struct training_data {
  dataset input;
  batch_form form;
  std::optional<int64_t> source_rows;  ///< See `dataset_iterator::source_rows`.
};
expected<training_data> data_of(const training_job& job) {
  const auto inputs = deployed_inputs(job.input, job);
  if (!inputs)
    return fail(inputs.error());
  const auto opened = open_input(inputs->front(), {.seed = job.basis.config.seed, .drop_remainder = true});
  if (!opened)
    return fail(opened.error());
  return training_data{inputs->front(), {(*opened)->spec(), (*opened)->batch_rows()}, (*opened)->source_rows()};
}

/// How the outputs of the previous ensemble are kept; absent: they are computed in every epoch.
std::optional<row_cache_plan> cache_of(const shared_basis& basis, const training_data& data,
                                       const settled_config& config) {
  const auto& o = *basis;
  if (!o.previous() || o.options.replicate_ensemble_in_training || o.options.cache_bytes_max == 0 || !data.source_rows
      || config.replicas > 1)
    return std::nullopt;
  return row_cache_plan{.rows_feature = std::string{source_row_feature},
                        .source_rows = *data.source_rows,
                        .bytes_max = o.options.cache_bytes_max,
                        .loss = std::make_shared<const model>(previous_loss_model(basis)),
                        .loss_reads = port_name(o.previous()->spec, logits_output)};
}

/// The next iteration begins once every subnetwork has stopped, unless this one is the last.
plan_iteration span_of(const search_books& books, const iteration_specs& specs, const search_limits& limits) {
  plan_iteration span{.number = books.iteration()};
  if (span.number > 0)
    span.begins_at = books.begins_at;
  if (!limits.max_iterations || span.number + 1 < *limits.max_iterations)
    span.ends_at = over_at(progress_of(books, specs, limits));
  return span;
}

composite_parts everything_in(const iteration_specs& specs, bool reports) {
  composite_parts parts{.candidates = specs.candidates, .reports = reports};
  for (const auto& s : specs.subnetworks)
    parts.subnetworks.push_back(s.builder);
  return parts;
}

/// What builders report, for the plan's blob.
std::string text_of_own(const iteration_specs& specs, std::vector<subnetwork_report> own) {
  std::vector<materialized_report> all;
  for (size_t i = 0; i < own.size(); ++i)
    all.push_back(report_of(specs.subnetworks[i].builder, std::move(own[i]), {}));
  return reports_text({all});
}

/// The nodes of an iteration, with their resources.
class search_nodes {
 public:
  search_nodes(const training_job& job, dataset input, const std::vector<search_group>& groups,
               std::optional<row_cache_plan> cache, planned_job& made)
    : job_(job), config_(job.basis.config), input_(std::move(input)), groups_(groups), cache_(std::move(cache)),
      made_(made), add_(made.plan) {}

  /// `evaluated` makes the model of an evaluation; `reports`: with the metrics that builders report.
  expected<void> make(const std::function<model(bool reports)>& evaluated) {
    const bool summaries = config_.records();
    // The nodes that live on into the next iteration come first, so that they have the same numbers in all plans.
    chief_ = add_.number();
    const auto writer = add_.number(), summary_writer = add_.number(), callbacks = add_.number();
    std::vector<node_id> eval_writers;
    for (const auto& e : job_.evaluations)
      eval_writers.push_back(e.purpose == evaluation_purpose::regular ? add_.number() : no_node);
    auto done = train();
    add_.node(role::outfeed, "outfeed", chief_);
    add_.node(writer, role::checkpoint_writer, "checkpoint_writer", chief_);
    if (summaries)
      add_.node(summary_writer, role::summary_writer, "summary_writer", chief_);
    // Evaluations that share a model share its graph.
    const auto plain = std::make_shared<const model>(evaluated(false)),
               reporting = std::make_shared<const model>(evaluated(true));
    for (size_t i = 0; done && i < eval_writers.size(); ++i) {
      const bool reports = job_.evaluations[i].purpose == evaluation_purpose::reports;
      done = evaluate(static_cast<int32_t>(i), reports ? reporting : plain, eval_writers[i]);
    }
    add_.node(callbacks, role::callbacks, "callbacks", chief_);  // Any iteration may have hooks of its own.
    add_.node(chief_, role::chief, "chief", no_node).stops_at_infeeds = true;
    add_service_edges(made_.plan, config_.saves());
    return done;
  }

 private:
  expected<void> train() {
    const auto text = text_of(input_);
    if (!text)
      return fail(text.error());
    auto& feed = add_.node(role::infeed, "infeed/0", chief_);
    feed.dataset = add_.dataset(*text, mode::train);
    feed.out_ports = {std::string{data_port}};
    feed.stops_at_infeeds = true;
    const auto infeed = feed.id;
    made_.resources.datasets.push_back(cache_ ? with_row_numbers(input_, cache_->rows_feature) : input_);
    std::map<group_id, node_id> own_infeeds;
    for (const auto& g : groups_)
      if (g.own) {
        const auto own = own_infeed_of(g);
        if (!own)
          return fail(own.error());
        own_infeeds.emplace(g.what.id, *own);
      }
    std::map<group_id, std::vector<node_id>> replicas;
    for (const auto& g : groups_)
      replicas[g.what.id] = replicas_of(g);
    const auto how = config_.replicas > 1 ? divide::split : divide::broadcast;
    for (const auto& g : groups_)
      for (size_t r = 0; r < replicas[g.what.id].size(); ++r) {
        const auto reader = replicas[g.what.id][r];
        add_.data_edge(infeed, reader, data_port, how);
        if (g.own)
          add_.data_edge(own_infeeds.at(g.what.id), reader, own_data_port, how);
        for (const auto& port : g.in)
          add_.data_edge(replicas[source_of(groups_, port).what.id][r], reader, port, divide::broadcast);
      }
    return {};
  }

  expected<node_id> own_infeed_of(const search_group& g) {
    const auto text = text_of(g.own->input);
    if (!text)
      return fail(text.error());
    auto& feed = add_.node(role::infeed, "infeed/" + g.what.name, chief_);
    feed.own = own_data_of{g.what.id, g.own->who};
    feed.dataset = add_.dataset(*text, mode::train);
    feed.out_ports = {std::string{own_data_port}};
    made_.resources.datasets.push_back(g.own->input);
    return feed.id;
  }

  std::vector<node_id> replicas_of(const search_group& g) {
    made_.plan.groups.push_back(g.what);
    made_.plan.shown.push_back(g.what.id);
    made_.resources.models.push_back(g.source);
    const auto program = add_.program(g.source->name, mode::train, g.what.id);
    if (cache_ && g.what.name == previous_group_name)
      made_.resources.caches[program] = *cache_;
    std::vector<node_id> all;
    for (int32_t r = 0; r < config_.replicas; ++r) {
      auto& n = add_.node(role::replica, g.what.name + "/replica/" + std::to_string(r), chief_, r);
      n.group = g.what.id;
      n.program = program;
      n.in_ports = {std::string{data_port}};
      if (g.own)
        n.in_ports.emplace_back(own_data_port);
      n.in_ports.insert(n.in_ports.end(), g.in.begin(), g.in.end());
      n.out_ports = g.out;
      all.push_back(n.id);
    }
    if (config_.replicas > 1 && job_.reducers)
      add_.node(role::reducer, g.what.name + "/reducer", chief_).group = g.what.id;
    return all;
  }

  expected<void> evaluate(int32_t index, const std::shared_ptr<const model>& composite, node_id writer) {
    const auto& data = job_.evaluations[static_cast<size_t>(index)].data;
    auto text = text_of(data.input);
    if (!text)
      return fail(std::move(text.error()));
    const bool regular = job_.evaluations[static_cast<size_t>(index)].purpose == evaluation_purpose::regular;
    const plan_evaluation e{data.name, std::move(*text), {data.hosts, data.replicas}};
    if (regular)
      add_.evaluation(e, chief_, index, composite->name);
    else
      add_.sub_plan(role::evaluator, data.name, chief_, index, composite->name, e.dataset, mode::evaluate, e.by);
    made_.resources.models.push_back(composite);
    made_.resources.datasets.push_back(data.input);
    if (config_.model_dir && regular)
      add_.node(writer, role::eval_summary_writer, eval_summary_writer_name(e), chief_, index);
    return {};
  }

  const training_job& job_;
  const settled_config& config_;
  const dataset input_;
  const std::vector<search_group>& groups_;
  const std::optional<row_cache_plan> cache_;
  planned_job& made_;
  plan_maker add_;
  node_id chief_ = no_node;
};

}  // namespace

void become_search(training_job& job, const search_options& options) {
  job.search = std::make_shared<const search_options>(options);
  const auto add = [&job](const char* name, evaluation_purpose purpose, const auto& wanted) {
    if (wanted && wanted->input)
      job.evaluations.push_back({.data = {.input = *wanted->input, .steps = wanted->steps, .name = name},
                                 .sanity_batches = 0,
                                 .purpose = purpose});
  };
  add("chooser", evaluation_purpose::choice, options.evaluator);
  add("reporter", evaluation_purpose::reports, options.report_materializer);
}

choice_rules choice_rules_of(const search_options& options) {
  choice_rules rules{.replay = options.replay_indices, .force_grow = options.force_grow};
  if (options.evaluator)
    rules.evaluator = metric_rule{options.evaluator->metric_name, options.evaluator->objective};
  return rules;
}

search_rules rules_of(const training_job& job) {
  const auto& o = *job.search;
  return {.limits = {.max_iteration_steps = o.max_iteration_steps,
                     .max_iterations = o.max_iterations,
                     .steps = job.steps,
                     .max_steps = job.max_steps,
                     .combine = o.global_step_combiner_fn},
          .choice = choice_rules_of(o),
          .makes_reports = o.report_materializer.has_value()};
}

expected<planned_job> plan_search(const training_job& job, const job_books& found) {
  if (auto right = check(job); !right)
    return fail(std::move(right.error()));
  auto books = read_books(found);
  if (!books)
    return fail(std::move(books.error()));
  auto basis = basis_of(*job.search, *books);
  if (!basis)
    return fail(std::move(basis.error()));
  auto specs = specs_of(**basis);
  if (!specs)
    return fail(specs.error());
  if (auto right = check_replay(rules_of(job).choice, books->iteration(), specs->candidates.size()); !right)
    return fail(std::move(right.error()));
  if (auto same = enter_specs(*books, *specs); !same)
    return fail(std::move(same.error()));
  const auto found_data = data_of(job);
  if (!found_data)
    return fail(found_data.error());
  const auto& data = found_data->form.element;
  if (auto known = enter_own_data(**basis, found_data->form, job.basis.config.seed, *specs); !known)
    return fail(std::move(known.error()));
  if (auto known = enter_complexities(*basis, data, *specs); !known)
    return fail(std::move(known.error()));
  for (size_t i = 0; i < specs->candidates.size(); ++i)
    books->candidates[i].what.complexity = specs->candidates[i].complexity;
  const auto groups = groups_of(*basis, *specs, *books, data);
  if (!groups)
    return fail(groups.error());
  planned_job made;
  const auto evaluated = [&](bool reports) { return composite_model(*basis, everything_in(*specs, reports)); };
  const auto cache = cache_of(*basis, *found_data, job.basis.config);
  if (auto done = search_nodes{job, found_data->input, *groups, cache, made}.make(evaluated); !done)
    return fail(std::move(done.error()));
  auto hooks = hooks_of(**basis, *specs, *groups);
  if (!hooks)
    return fail(std::move(hooks.error()));
  made.resources.hooks = std::move(*hooks);
  made.plan.iteration = span_of(*books, *specs, rules_of(job).limits);
  if (books->iteration() > 0) {
    auto growth = growth_of(*basis, *specs, data);
    if (!growth)
      return fail(std::move(growth.error()));
    made.growth = std::move(growth->stored);
    made.remarks = std::move(growth->remarks);
  }
  made.blobs[std::string{search_books_blob}] = books_text(*books);
  if (job.search->report_materializer) {
    auto own = own_reports(*basis, data);
    if (!own)
      return fail(std::move(own.error()));
    made.blobs[std::string{own_reports_blob}] = text_of_own(*specs, std::move(*own));
  }
  return made;
}

}  // namespace troupe
