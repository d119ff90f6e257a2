#include "pipeline/launch/check_prepared.hpp"

#include "storage/examination/examination.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <set>

namespace troupe {

namespace {

/// Maps the name of each variable to its group. Names must differ between groups, since a checkpoint stores all
/// variables by name.
expected<std::map<std::string, group_id>> variable_owners(const prepared_job& job) {
  std::map<std::string, group_id> owners;
  for (const auto& group : layouts_of(job))
    for (const auto& e : group.layout->entries())
      if (const auto [owner, added] = owners.emplace(e.name, group.group); !added)
        return fail(errc::invalid_argument, "variable '" + e.name + "' is of two groups, '"
                                                + job.plan.group(owner->second).name + "' and '" + group.name
                                                + "': build each model in a scope of its own");
  return owners;
}

/// A checkpoint of a search has its steps as tensors, which no variable may replace.
expected<void> check_numbers(const prepared_job& job, const std::map<std::string, group_id>& owners) {
  const auto* training = std::get_if<training_job>(&job.job);
  if (!training || !training->search)
    return {};
  for (const auto& [name, number] : numbers_of(books_of_plan(job)))
    if (const auto owner = owners.find(name); owner != owners.end())
      return fail(errc::invalid_argument, "variable '" + name + "' of '" + job.plan.group(owner->second).name
                                              + "' has a name that checkpoints of a search keep: rename it");
  return {};
}

/// Finds, for each evaluation beside training, the groups whose variables it loads.
expected<void> find_evaluated_groups(prepared_job& job, const std::map<std::string, group_id>& owners) {
  const auto* training = std::get_if<training_job>(&job.job);
  const auto* chief = job.plan.find(role::chief, no_node);
  if (!training || !chief)
    return {};
  const auto& evaluators = job.plan.all(role::evaluator, chief->id);
  if (evaluators.size() != training->evaluations.size())
    return fail(errc::invalid_argument,
                "the plan lists " + std::to_string(evaluators.size()) + " evaluators, and the job has "
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

/// The metrics of a candidate of a search are also those of the job while it leads.
std::optional<std::string> name_while_leading(const prepared_job& job, const std::string& metric) {
  for (const auto& g : job.plan->groups)
    if (metric.starts_with(g.name + "/"))
      return metric.substr(g.name.size() + 1);
  return std::nullopt;
}

bool is_search(const prepared_job& job) {
  const auto* training = std::get_if<training_job>(&job.job);
  return training && training->search;
}

/// The names of an evaluation's metrics.
std::vector<std::string> metrics_of(const prepared_job& job, size_t which) {
  const auto* chief = job.plan.find(role::chief, no_node);
  const auto& node = *job.plan.all(role::evaluator, chief ? chief->id : no_node)[which];
  std::set<std::string> names{"global_step", "loss"};
  for (const auto& o : job.driven_by(node.id).outputs) {
    if (o.what != program_output::kind::metric_sum)
      continue;
    names.insert(o.name);
    if (const auto plain = is_search(job) ? name_while_leading(job, o.name) : std::nullopt)
      names.insert(*plain);
  }
  return {names.begin(), names.end()};
}

/// Error: invalid_argument if `who` asks for an evaluation or a metric that the job does not have.
expected<void> check_metric(const prepared_job& job, const std::string& who, const std::string& evaluation,
                            const std::optional<std::string>& metric) {
  const auto all = judged_part_of(job.job)->evaluations;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const evaluation_policy& e) { return e.data.name == evaluation; });
  if (found == all.end())
    return fail(errc::invalid_argument,
                who + " needs an evaluation" + (evaluation.empty() ? " without a name" : " named '" + evaluation + "'")
                    + "; there "
                    + (all.empty() ? "is none" : "are: " + joined(all, ", ", [](const evaluation_policy& e) {
                                                   return e.data.name.empty() ? "one without a name"
                                                                              : "'" + e.data.name + "'";
                                                 })));
  const auto names = metrics_of(job, static_cast<size_t>(found - all.begin()));
  if (metric && std::find(names.begin(), names.end(), *metric) == names.end())
    return fail(errc::invalid_argument, who + " asks for the metric '" + *metric
                                            + "', which the evaluation does not have; it has " + joined(names));
  return {};
}

expected<void> check_judgements(const prepared_job& job) {
  const auto judged = judged_part_of(job.job);
  if (!judged)
    return {};
  for (const auto& rule : judged->rules) {
    const auto metric = rule.what == stop_rule::kind::predicate ? std::nullopt : std::optional{rule.metric};
    if (auto possible = check_metric(job, "the rule '" + to_text(rule) + "'", rule.options.evaluation, metric);
        !possible)
      return possible;
  }
  for (const auto& asked : judged->asked)
    if (auto possible = check_metric(job, asked.who, asked.evaluation, asked.metric); !possible)
      return possible;
  return judged->best ? check_metric(job, "keep_best", judged->best->goal.evaluation, judged->best->goal.metric)
                      : expected<void>{};
}

/// A search must not train an iteration to find that its candidates lack the metric that decides.
expected<void> check_choice(const prepared_job& job) {
  const auto* training = std::get_if<training_job>(&job.job);
  if (!training || !training->search || !training->search->evaluator)
    return {};
  const auto& all = training->evaluations;
  const auto chooser = std::find_if(all.begin(), all.end(),
                                    [](const evaluation_policy& e) { return e.purpose == evaluation_purpose::choice; });
  const auto& metric = training->search->evaluator->metric_name;
  const auto names = metrics_of(job, static_cast<size_t>(chooser - all.begin()));
  if (std::find(names.begin(), names.end(), metric) != names.end())
    return {};
  std::vector<std::string> plain;
  std::copy_if(names.begin(), names.end(), std::back_inserter(plain),
               [](const std::string& name) { return name.find('/') == std::string::npos; });
  return fail(errc::key_missing, "evaluator: no candidate has the metric " + quoted(metric)
                                     + " (metric_name); they have " + joined(plain));
}

/// Reads the evaluations of earlier runs. Stop rules and `restore_best` need them, and neither a finished job nor an
/// evaluator that is started again evaluates anything twice.
expected<void> read_histories(prepared_job& job) {
  const auto judged = judged_part_of(job.job);
  if (!judged)
    return {};
  const auto* training = std::get_if<training_job>(&job.job);
  const bool needed = !training || !judged->rules.empty() || (judged->best && judged->best->restore_best);
  const bool finished = training && job.books && training->max_steps && job.books->id.step >= *training->max_steps;
  if (!needed && !finished)
    return {};
  for (const auto& e : judged->evaluations) {
    auto history = read_evaluations(*job.basis().files, join_path(*job.basis().config.model_dir, e.data.folder()));
    if (!history && needed)
      return fail(history.error());
    job.histories.push_back(history ? std::move(*history) : evaluation_history{});
  }
  return {};
}

/// Checks the warm start before training begins, if training would start from it rather than from a checkpoint.
expected<void> check_start(const prepared_job& job) {
  if (!job.start || job.books || !std::holds_alternative<training_job>(job.job))
    return {};
  return job.start->check(layouts_of(job));
}

}  // namespace

expected<void> check_prepared(prepared_job& job) {
  return variable_owners(job)
      .and_then([&](const auto& owners) {
        return check_numbers(job, owners).and_then([&] { return find_evaluated_groups(job, owners); });
      })
      .and_then([&] { return check_start(job); })
      .and_then([&] { return check_choice(job); })
      .and_then([&] { return check_judgements(job); })
      .and_then([&] { return read_histories(job); });
}

}  // namespace troupe
