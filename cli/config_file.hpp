// A configuration file: TOML with the tables [model] [optimizer] [input] [run] [evaluate].
#pragma once

#include "cli/settings.hpp"

namespace troupe::cli {

/// Every key with its table, "run.max_steps", and the line it stands in. not_found where the file cannot be read,
/// invalid_argument with line and column where it is no TOML.
expected<std::vector<assignment>> read_config(const std::string& path);

/// The same of a text; `name` is what messages call it.
expected<std::vector<assignment>> parse_config(std::istream& text, const std::string& name);

}  // namespace troupe::cli
