// The manual page troupe(1), made from the commands' arguments and the option tables.
#pragma once

#include "cli/configuration/arguments.hpp"

namespace troupe::cli {

/// The page in roff, with the macros of man(7). It has no date, so that a version always has the same page.
std::string manual_page(const std::vector<command_description>& commands);

}  // namespace troupe::cli
