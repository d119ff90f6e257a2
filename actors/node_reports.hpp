// The report of a job: its driver asks every node what it has done with its time, and shows the answers on the board.
#pragma once

#include "actors/inquiry.hpp"
#include "actors/roster.hpp"
#include "words/activity.hpp"

#include <troupe/job_report.hpp>

#include <chrono>

namespace troupe {

/// How long answers are awaited. A node that is busy for longer is shown as one that has not answered.
inline constexpr std::chrono::milliseconds report_answers_max{1'000};

/// Asks the living nodes, in the name of their driver, and through them those that they drive. Returns false if there
/// are none.
bool ask_for_reports(caf::local_actor& driver, const roster& nodes, inquiry& reporting);
/// The row of one actor.
actor_report report_of(const std::string& name, std::string_view role, const activity_counts& spent);
/// The rows of the nodes that were asked and are still in the plan. Withdraws the inquiry.
std::vector<actor_report> reports_of(const checked_plan& plan, node_id driver, inquiry& reporting);

}  // namespace troupe
