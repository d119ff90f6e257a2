// Turns the keys of [optimizer] into an optimizer.
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/optimizer.hpp>

namespace troupe::cli {

/// Keys that are not given have the value in `standard`. invalid_argument: a key of another rule or schedule, unless
/// the choice was made with higher precedence; a value out of range.
expected<optimizer> make_optimizer(const settings& given, const optimizer& standard = {});

}  // namespace troupe::cli
