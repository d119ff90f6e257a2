// What is printed about a job, line by line: as text for people, as JSON for programs. No line ends here.
#pragma once

#include <troupe/job.hpp>

namespace troupe::cli {

/// "accuracy 0.8812, loss 0.3312": by name, without the step, which is said elsewhere.
std::string metrics_text(const std::map<std::string, double>& metrics);
/// "0:42", "1:02:03".
std::string duration_text(double seconds);
/// "step 390/2340  16%  812 steps/s  loss 0.4321  ETA 0:02": what progress on a terminal and elsewhere begins with.
std::string progress_text(int64_t step, std::optional<int64_t> max_steps, double steps_per_second, double loss);

/// For progress, saved, evaluated and started.
std::string event_text(const job_event& event);
std::string finished_text(const train_result& result);
std::string finished_text(const evaluation_result& result);
std::string stopped_text(const train_result& result, std::string_view signal);

/// {"event":"progress","global_step":...}; the fields that the kind has. Numbers that are not finite are null.
std::string event_json(const job_event& event);
std::string finished_json(const train_result& result);
std::string finished_json(const evaluation_result& result);
std::string stopped_json(const train_result& result, std::string_view signal);
std::string warning_json(std::string_view text, int64_t step);
std::string failed_json(const error& e);

}  // namespace troupe::cli
