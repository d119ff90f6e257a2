// Makes the options of each node's actor from the plan and the job.
#pragma once

#include "actors/callbacks.hpp"
#include "actors/checkpoint_watcher.hpp"
#include "actors/chief/chief.hpp"
#include "actors/evaluator.hpp"
#include "actors/follower/follower.hpp"
#include "actors/predictor.hpp"
#include "actors/steps/infeed.hpp"
#include "actors/steps/outfeed.hpp"
#include "actors/steps/replica.hpp"
#include "actors/writers/checkpoint_writer.hpp"
#include "actors/writers/summary_writer.hpp"
#include "pipeline/launch/prepared_job.hpp"

namespace troupe {

/// Each function returns the options of one node of the job's plan. The job outlives the actor.
infeed_options infeed_options_of(const std::shared_ptr<prepared_job>& job, const plan_node& node);
replica_options replica_options_of(const prepared_job& job, const plan_node& node);
outfeed_options outfeed_options_of(const prepared_job& job, const plan_node& node);
checkpoint_writer_options checkpoint_writer_options_of(const prepared_job& job, const plan_node& node);
summary_writer_options summary_writer_options_of(const prepared_job& job, const plan_node& node);
/// Without the nodes that it drives; the caller adds these.
evaluator_options evaluator_options_of(const prepared_job& job, const plan_node& node);
predictor_options predictor_options_of(const prepared_job& job, const plan_node& node);
chief_options chief_options_of(const prepared_job& job, const plan_node& node);
/// Of an evaluation, and of what is judged, with the evaluations of earlier runs.
evaluation_settings settings_of(const evaluation_policy& e);
judgement_settings judgements_of(const prepared_job& job, std::span<const evaluation_policy> evaluations,
                                 const std::vector<stop_rule>& rules, const std::optional<keep_best>& best);
/// `threads`: the actor may block.
checkpoint_watcher_options checkpoint_watcher_options_of(const prepared_job& job, const plan_node& node, bool threads);
/// Without the nodes that it drives and the board.
follower_options follower_options_of(const prepared_job& job);
callbacks_options callbacks_options_of(const prepared_job& job, const plan_node& node);

}  // namespace troupe
