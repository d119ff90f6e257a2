// Decisions of the chief, as plain functions on plain data.
#pragma once

#include "messages/snapshot.hpp"

#include <troupe/hook.hpp>

#include <string_view>

namespace troupe {

/// The chief's warning if its timer finds something to do that an earlier message should have led to.
inline constexpr std::string_view
    forgotten_text = "the chief had forgotten what a message led to, and has done it now; please report this";

/// The first multiple of `every` after `after`; INT64_MAX if there is none.
int64_t next_multiple(int64_t after, std::optional<int64_t> every);

/// How far ahead of `reached` the horizon may lie: two blocks, or 200 ms of measured steps if that is more.
int64_t horizon_ahead(int64_t block_steps, double seconds_per_step);

/// An evaluation is due if none has been made yet, if `throttle_secs` have passed since the last one began, or if it is
/// the last one.
bool evaluation_due(std::optional<double> seconds_since_last, double throttle_secs, bool at_the_end);

/// Joins two progress events: returns the newer one, with the mean loss over the steps of both. `since`: the state
/// before the older event.
job_event joined(int64_t since, const job_event& older, job_event newer);

/// "the data ended at step 10, before max_steps 20"; `goal` is absent if the job has none.
std::string data_ended_text(int64_t step, std::optional<int64_t> goal);

/// failed_precondition if the job cannot begin where it was planned to: there is no checkpoint any more, or the newest
/// one belongs to another iteration. Another checkpoint of the same iteration is accepted, because it has the same
/// plan: an older one if the newest is damaged, or a newer one.
expected<void> check_origin(std::optional<checkpoint_id> planned_from, const restored& x);

/// Where each infeed begins, by its key, after an interrupted job. Another number of infeeds goes on from the position
/// of one, or from that which all have: none of data that are read in any order depends on the infeed.
/// failed_precondition: the checkpoint lacks a position, or has different ones of another number of infeeds.
expected<std::map<std::string, std::string>> positions_for(const std::string& prefix,
                                                           const std::map<std::string, std::string>& saved,
                                                           const std::vector<const plan_node*>& infeeds);

}  // namespace troupe
