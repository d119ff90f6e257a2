// The terminal's progress line: a job's fields laid out in the available columns.
#pragma once

#include <troupe/job.hpp>

namespace troupe::cli {

/// What a job's progress does not contain.
struct job_scale {
  std::optional<int64_t> epoch_steps = {};         ///< Steps of a pass over the training data.
  std::map<std::string, int64_t> evaluation_batches = {};  ///< Of an evaluation, by its name, where it is known.
  bool saves = true;                                       ///< The job has a model directory.
};

/// "[=====>    ]  45%  epoch 3/5  step 1053/2340  812 steps/s  loss 0.4321  accuracy 0.8312  after 0:42  0:51 left  accuracy 0.8457 at
/// 780", on one line of less than `width` columns: whole fields are left out, the least important first. `elapsed` in
/// seconds; `evaluation`: the text of the last one; `training`: that of the metrics at the last log point.
std::string progress_line(const job_progress& now, const job_scale& scale, double elapsed, const std::string& evaluation, size_t width,
                          const std::string& training = {});

}  // namespace troupe::cli
