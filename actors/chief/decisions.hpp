// What the chief decides, as plain functions on plain data.
#pragma once

#include "messages/evaluation.hpp"
#include "messages/snapshot.hpp"
#include "messages/summary.hpp"

#include <troupe/hook.hpp>


namespace troupe {

/// The first step after `after` at which something that happens every `every` steps happens; INT64_MAX for never.
int64_t next_multiple(int64_t after, std::optional<int64_t> every);

/// How far ahead of `reached` the horizon may lie: two blocks, and beyond that at most 200 ms of measured steps.
int64_t horizon_ahead(int64_t block_steps, double seconds_per_step);

/// An evaluation is due when none has been made, or `throttle_secs` have passed since the last one began, or it is the last.
bool evaluation_due(std::optional<double> seconds_since_last, double throttle_secs, bool at_the_end);

/// Two progress events as one: the newer, its loss the mean over the steps of both. `since`: the state before the older.
job_event joined(int64_t since, const job_event& older, job_event newer);

/// failed_precondition when a checkpoint of an interrupted job does not have the position of every infeed, or has one of another.
expected<void> check_positions(const std::string& prefix, const std::map<std::string, std::string>& positions, int32_t infeeds);

/// What is kept of an evaluation: its metrics without global_step, and which checkpoint it was of.
std::vector<record> evaluation_records(const evaluated& x);

}  // namespace troupe
