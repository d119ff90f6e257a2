// The terminal's progress line: a job's fields laid out in the available columns.
#pragma once

#include <troupe/job.hpp>

namespace troupe::cli {

/// What the progress of a job does not contain.
struct job_scale {
  std::optional<int64_t> epoch_steps = {};                 ///< Steps of one epoch of the training data.
  std::map<std::string, int64_t> evaluation_batches = {};  ///< Batches by the name of the evaluation, if known.
  bool saves = true;                                       ///< The job has a model directory.
};

/// One line of less than `width` columns: "[=====>    ]  45%  epoch 3/5  step 1053/2340  812 steps/s  loss 0.4321
/// accuracy 0.8312  after 0:42  0:51 left  accuracy 0.8457 at 780". Whole fields are left out, the least important
/// first. `elapsed` is in seconds, `evaluation` is the text of the last evaluation, and `training` that of the metrics
/// at the last log point.
std::string progress_line(const job_progress& now, const job_scale& scale, double elapsed,
                          const std::string& evaluation, size_t width, const std::string& training = {});

/// Lines of less than `width` columns about the candidates of a search, to be shown above the line: "* t0_dnn_grow_mean
/// loss 0.4321  average 0.4512", where the star marks the one that leads. At most `candidates_shown_max` of them, those
/// with the least average; a last line counts the others. Long names are shortened. Empty for other jobs.
std::vector<std::string> candidate_lines(const std::vector<candidate_progress>& candidates, size_t width);
inline constexpr size_t candidates_shown_max = 8;

}  // namespace troupe::cli
