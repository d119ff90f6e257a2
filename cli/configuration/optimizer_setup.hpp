// Turns the keys of [optimizer] into an optimizer.
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/optimizer.hpp>

namespace troupe::cli {

/// What is not given is as `standard` has it. invalid_argument: a key of another rule or schedule than the one chosen, unless that was
/// chosen with higher precedence; a value out of range.
expected<optimizer> make_optimizer(const settings& given, const optimizer& standard = {});

}  // namespace troupe::cli
