// The keys of [optimizer] become an optimizer.
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/optimizer.hpp>

namespace troupe::cli {

/// invalid_argument: a key of another rule or schedule than the one chosen, unless that was chosen nearer to the user; a value out of range.
expected<optimizer> make_optimizer(const settings& given);

}  // namespace troupe::cli
