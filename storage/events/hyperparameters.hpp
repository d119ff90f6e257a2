// Hyperparameters in event files, as TensorBoard's plugin for them reads them: an experiment says which there are and which
// metrics, and a session their values and how it ended.
#pragma once

#include <troupe/event_value.hpp>
#include <troupe/run_record.hpp>

namespace troupe {

inline constexpr std::string_view hyperparameters_plugin = "hparams";

/// The names of hyperparameters with the kind of each, and of metrics: `metrics` by the directory of the session that has
/// their curves ("" its own, "eval").
event_value experiment_summary(const hyperparameters& values, const std::vector<std::pair<std::string, std::string>>& metrics, double wall_time);
/// The value of each, at the start of a session.
event_value session_start_summary(const hyperparameters& values, const std::string& name, double wall_time);
event_value session_end_summary(bool failed, double wall_time);

/// The bytes of such a summary, in words. data_loss: the reason why they are none.
expected<std::string> hyperparameters_text(const std::string& bytes);

}  // namespace troupe
