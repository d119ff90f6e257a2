// A configuration file: TOML with the tables that `key_tables` lists, such as [model], [input] and [run].
#pragma once

#include "cli/configuration/settings.hpp"

namespace troupe::cli {

/// Every key with its table, such as "run.max_steps", and its line. not_found if the file cannot be read;
/// invalid_argument, with line and column, if it is not TOML.
expected<std::vector<assignment>> read_config(const std::string& path);

/// Parses a text, which is read to its end and may come from a pipe. `name` is its name in messages. invalid_argument:
/// it is not TOML, has more than 16 MiB, or nests more than 32 lists and tables.
expected<std::vector<assignment>> parse_config(std::istream& from, const std::string& name);

}  // namespace troupe::cli
