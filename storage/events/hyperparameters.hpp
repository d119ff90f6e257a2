// Hyperparameters in event files, for TensorBoard's plugin. The summary of an experiment lists the hyperparameters and
// metrics; those of a session give the values and how it ended.
#pragma once

#include <troupe/event_value.hpp>
#include <troupe/run_record.hpp>

namespace troupe {

inline constexpr std::string_view hyperparameters_plugin = "hparams";

/// The names and kinds of the hyperparameters, and the metrics: each with the directory of its curves, relative to the
/// session's ("" for its own, "eval").
event_value experiment_summary(const hyperparameters& values,
                               const std::vector<std::pair<std::string, std::string>>& metrics, double wall_time);
/// The value of each hyperparameter, at the start of a session.
event_value session_start_summary(const hyperparameters& values, const std::string& name, double wall_time);
event_value session_end_summary(bool failed, double wall_time);

/// The content of such a summary in words. Error: data_loss with the reason why the bytes are invalid.
expected<std::string> hyperparameters_text(const std::string& bytes);

}  // namespace troupe
