// The page of the guide that lists every key of a configuration, made from the tables of the options.
#pragma once

#include "cli/configuration/keys.hpp"

namespace troupe::cli {

/// "whole number, steps"
std::string type_text(const key_info& key);
/// The values that the key accepts, in Markdown: "at least 1", "`valid`, `same`". Empty: any of its type.
std::string range_text(const key_info& key);
/// In Markdown: a section for each table, a row for each of its keys.
std::string configure_page();

}  // namespace troupe::cli
