// What a model directory keeps of its configuration: from the settings of a run, and back into settings.
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/run_description.hpp>

namespace troupe::cli {

/// The record of a run, once its job was set up. Paths become absolute, and the model directory itself is left out, so that
/// the record holds from anywhere and after the directory was moved. `arguments` are those of the program, its name first.
run_record record_of(const settings& given, std::vector<std::string> arguments);

/// The settings that describe a model and how it is trained, for TensorBoard's page of hyperparameters: numbers as numbers.
hyperparameters hyperparameters_of(const settings& given);

/// What `directory` says that its last run was configured with. not_found, data_loss, unimplemented: with a note on how to go on.
expected<std::vector<assignment>> kept_settings(const std::string& directory);

/// Whether a key names a file or a directory.
bool is_path(std::string_view key);

}  // namespace troupe::cli
