// The configuration that a model directory keeps: made from the settings of a run, and read back into settings.
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/run_description.hpp>

namespace troupe::cli {

/// The record of a run; call it after the job was set up. Paths become absolute and the model directory is left out, so
/// that the record is valid in any working directory and after the model directory has moved. `arguments` are the
/// program's, beginning with its name.
run_record record_of(const settings& given, std::vector<std::string> arguments);

/// The settings of a model and its training, for TensorBoard's page of hyperparameters: numbers as numbers.
hyperparameters hyperparameters_of(const settings& given);

/// The settings of the last run in `directory`. not_found, data_loss, unimplemented, with a note that says what to do.
expected<std::vector<assignment>> kept_settings(const std::string& directory);

/// Whether a key names a file or a directory.
bool is_path(std::string_view key);

}  // namespace troupe::cli
