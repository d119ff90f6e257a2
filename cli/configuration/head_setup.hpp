// Turns [head] and [[head.heads]] into a head.
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/heads.hpp>

namespace troupe::cli {

/// invalid_argument: no type; a key of another type of head, unless the type was chosen with higher precedence; invalid
/// options.
expected<head> make_head(const settings& given);

}  // namespace troupe::cli
