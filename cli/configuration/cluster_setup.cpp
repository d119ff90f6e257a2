#include "cli/configuration/cluster_setup.hpp"

namespace troupe::cli {

expected<cluster> cluster_of(const command_line& line) {
  return line.tf_config ? read_cluster(*line.tf_config) : cluster_of_process();
}

expected<settings> load_settings(const command_line& line, const cluster& c) {
  auto given = load_settings(line);
  if (!given || !c.model_dir || given->has("run.model_dir"))
    return given;
  auto more = line;
  more.flags.push_back({"run.model_dir", *c.model_dir, "TF_CONFIG"});
  return load_settings(more);
}

expected<task_description> join(job_setup& setup, const cluster& c) {
  return with_cluster(setup.estimator, c).and_then([&](estimator joined) {
    setup.estimator = std::move(joined);
    return describe_task(c, setup.estimator.config);
  });
}

expected<opened_data> open_data(const job_setup& setup, const task_description& task) {
  opened_data opened{.training = setup.training};
  if (task.trains) {
    auto examples = open_training_data(setup);
    if (!examples)
      return fail(examples.error());
    opened.training = make_train_spec(setup, *examples);
    opened.epoch_steps = epoch_steps(setup, *examples);
  }
  for (const auto& e : setup.evaluations) {
    if (!e.while_training)
      continue;
    // A chief has its rules from the evaluations of an evaluator, whose data it does not read.
    if (task.kind == task_kind::chief)
      opened.evaluations.push_back(e.spec);
    if (!task.evaluates)
      continue;
    const auto test = open_test_data(setup, e);
    if (!test)
      return fail(test.error());
    opened.evaluations.push_back(make_eval_spec(e, *test));
    if (const auto batches = evaluation_batches(e, *test))
      opened.evaluation_batches[e.spec.name] = *batches;
  }
  return opened;
}

}  // namespace troupe::cli
