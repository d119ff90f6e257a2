// A configuration file: TOML with the tables [model] [optimizer] [input] [run] [evaluate].
#pragma once

#include "cli/configuration/settings.hpp"

namespace troupe::cli {

/// Every key with its table, "run.max_steps", and its line. not_found where the file cannot be read, invalid_argument
/// with line and column where it is not TOML.
expected<std::vector<assignment>> read_config(const std::string& path);

/// The same for a text, read to its end, which may come from a pipe; `name` is its name in messages. Also
/// invalid_argument: a text of more than 16 MiB, or one that nests deeper than 32 lists and tables.
expected<std::vector<assignment>> parse_config(std::istream& from, const std::string& name);

}  // namespace troupe::cli
