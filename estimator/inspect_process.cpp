// Inspects the part of a job that one process has.
#include "cluster/task_duties.hpp"
#include "estimator/describe.hpp"
#include "pipeline/launch/launcher.hpp"

#include <troupe/inspect.hpp>

namespace troupe {

namespace {

expected<void> add_model(process_description& into, const estimator& e, const dataset& input, mode m) {
  return inspect_graph(e, input, m).map([&](graph_description model) { into.models.push_back(std::move(model)); });
}

/// Without what only the chief writes, and without rules about evaluations that another process makes.
void leave_to_others(const task_description& task, estimator& e, train_spec& training) {
  if (!task.is_chief) {
    e.config.model_dir = std::nullopt;
    training.saving_listeners.clear();
  }
  if (!task.evaluates) {
    training.stop_early.clear();
    training.keep_best = std::nullopt;
  }
}

expected<void> add_training(process_description& into, const estimator& e, const cluster& c, train_spec training,
                            const eval_specs& evaluations) {
  const auto duties = duties_of(c, e.config, training.max_steps || training.steps || training.epochs);
  if (!duties)
    return fail(duties.error());
  for (const auto d : *duties)
    into.duties.emplace_back(to_string(d));
  auto here = e;
  here.cluster = std::nullopt;
  leave_to_others(into.task, here, training);
  auto plan = inspect_plan(here, training, into.task.evaluates ? evaluations : eval_specs{});
  if (!plan)
    return fail(plan.error());
  into.plan = std::move(*plan);
  return add_model(into, here, training.input, mode::train);
}

/// What the process would refuse when it starts is refused here. Of a cluster with workers, which cannot start yet, the
/// part of this task.
expected<void> try_to_prepare(const task_description& task, const estimator& e, train_spec training,
                              const eval_specs& evaluations) {
  const auto prepared = [](auto settled) -> expected<void> {
    if (!settled)
      return fail(settled.error());
    const auto made = prepare(std::move(*settled));
    return made ? expected<void>{} : fail(made.error());
  };
  if (follows_a_chief(e))
    return prepared(describe_follower(e, training, evaluations));
  auto possible = prepared(describe(e, training, evaluations));
  if (possible || possible.error().category != errc::unimplemented || !e.cluster)
    return possible;
  auto here = e;
  here.cluster = std::nullopt;
  leave_to_others(task, here, training);
  return prepared(describe(here, training, task.evaluates ? evaluations : eval_specs{}));
}

}  // namespace

expected<process_description> inspect_process(const estimator& e, const train_spec& training,
                                              const eval_specs& evaluations) {
  const auto c = e.cluster.value_or(cluster{});
  if (auto may = may_train_and_evaluate(c); !may)
    return fail(may.error());
  const auto task = describe_task(c, e.config);
  if (!task)
    return fail(task.error());
  process_description r{.id = c.task, .task = *task};
  if (task->kind != task_kind::alone) {
    auto server = server_address(c, e.config);
    if (!server)
      return fail(server.error());
    r.server = std::move(*server);
  }
  if (task->trains)
    if (auto added = add_training(r, e, c, training, evaluations); !added)
      return fail(added.error());
  if (task->evaluates)
    for (const auto& evaluation : evaluations.all()) {
      if (const auto settled = describe(e, evaluation, checkpoint_ref::newest()); !settled)
        return fail(settled.error());
      if (auto added = add_model(r, e, evaluation.input, mode::evaluate); !added)
        return fail(added.error());
    }
  if (auto possible = try_to_prepare(*task, e, training, evaluations); !possible)
    return fail(possible.error());
  return r;
}

}  // namespace troupe
