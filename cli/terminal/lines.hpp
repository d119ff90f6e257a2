// The lines printed about a job: as text for people, as JSON for programs, without a final newline. Below the line of a
// result are tables of its array metrics; JSON has them as "arrays", nested lists. The console printer wraps texts that
// do not fit in the window.
#pragma once

#include "cli/terminal/class_table.hpp"
#include "cli/terminal/progress_line.hpp"

#include <troupe/job.hpp>
#include <troupe/run_record.hpp>

namespace troupe::cli {

std::string changed_text(const std::vector<setting_difference>& differences);
std::string finished_text(const train_result& result, const text_style& style);
std::string finished_text(const evaluation_result& result, const text_style& style);
/// The library's to_text; an evaluation with a confusion matrix also names the classes with the lowest recall. In a
/// window an evaluation is one line that fits: whole fields are left out, the least important first (`need_of` in
/// text_lines.cpp). JSON lines and event files have all of them.
std::string event_text(const job_event& event, const text_style& style);
std::string stopped_text(const train_result& result, std::string_view signal);
/// Two lines: what a job in this state does before it ends by a signal, and what a second signal does. Empty if the job
/// has ended.
std::string stopping_text(const job_progress& now, const job_scale& scale, std::string_view signal);
/// The line for a command that ended before it had a result. `doing` says when, as in "before the training began".
std::string stopped_text(std::string_view doing, std::string_view signal);

/// {"event":"progress","global_step":...}, with the fields that this kind of event has. Numbers that are not finite are
/// null.
std::string event_json(const job_event& event);
std::string changed_json(const std::vector<setting_difference>& differences);
std::string finished_json(const train_result& result);
std::string finished_json(const evaluation_result& result);
std::string stopped_json(const train_result& result, std::string_view signal);
std::string stopped_json(std::string_view doing, std::string_view signal);
std::string warning_json(std::string_view text, int64_t step);
std::string failed_json(const error& e);

}  // namespace troupe::cli
