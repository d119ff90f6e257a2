// The options of nodes that have to do with two processes over one model directory.
#include "pipeline/launch/node_options.hpp"

namespace troupe {

evaluation_settings settings_of(const evaluation_policy& e) {
  return {e.data.name, e.throttle_secs,        e.start_delay_secs,   e.sanity_batches, e.every_steps,
          e.when,      e.on_evaluator_failure, e.exports != nullptr, e.exports_at_end, e.purpose,
          {},          e.least_steps};
}

judgement_settings judgements_of(const prepared_job& job, std::span<const evaluation_policy> evaluations,
                                 const std::vector<stop_rule>& rules, const std::optional<keep_best>& best) {
  judgement_settings made{rules, best, {}};
  for (size_t i = 0; i < job.histories.size(); ++i)
    made.evaluations.push_back({evaluations[i].data.name, job.histories[i]});
  return made;
}

checkpoint_watcher_options checkpoint_watcher_options_of(const prepared_job& job, const plan_node& node, bool threads) {
  checkpoint_watcher_options options{
      .name = node.name, .files = job.basis().files, .directory = job.basis().config.model_dir.value_or("")};
  if (!threads) {
    options.patience = std::chrono::milliseconds{0};
    options.pause = std::chrono::milliseconds{1'000};
  }
  return options;
}

follower_options follower_options_of(const prepared_job& job) {
  const auto& follower = std::get<follower_job>(job.job);
  follower_options options;
  options.files = follower.basis.files;
  options.directory = follower.basis.config.model_dir.value_or("");
  for (size_t i = 0; i < follower.evaluations.size(); ++i)
    options.evaluations.push_back(
        {settings_of(follower.evaluations[i]), follower.evaluations[i].data.folder(), follower.listeners[i]});
  options.judged = judgements_of(job, follower.evaluations, follower.stop_early, follower.keep_best);
  options.max_steps = follower.max_steps;
  options.ends_by_epochs = follower.ends_by_epochs;
  options.first_commit_within = follower.first_commit_within;
  options.chief_within = follower.chief_within;
  options.deadlines = follower.basis.deadlines;
  options.hooks = follower.hooks;
  return options;
}

}  // namespace troupe
