// The manual page troupe(1), made from the arguments of the commands and the tables of the options.
#pragma once

#include "cli/configuration/arguments.hpp"

namespace troupe::cli {

/// In roff, with the macros of man(7). It has no date, so that one version always has the same page.
std::string manual_page(const std::vector<command_description>& commands);

}  // namespace troupe::cli
