// Turns the keys of [optimizer], or of another table of this kind, into an optimizer.
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/optimizer.hpp>

namespace troupe::cli {

/// `at` is what the keys begin with. Keys that are not given have the value in `standard`. invalid_argument: a value
/// out of range, or a key that belongs to another rule or schedule than the chosen one. Such a key is ignored if the
/// rule or schedule was chosen with higher precedence than the key was given.
expected<optimizer> make_optimizer(const settings& given, const optimizer& standard = {},
                                   const std::string& at = "optimizer.");

}  // namespace troupe::cli
