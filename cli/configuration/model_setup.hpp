// Turns [model] into a model, with the optimizer of [optimizer].
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/model.hpp>

namespace troupe::cli {

/// invalid_argument: a missing key, or a key of another type of model.
expected<model> make_model(const settings& given);

/// The error that `list` has more than `listed_max` of `what`, with the place where it was given.
tl::unexpected<error> too_many(const settings& given, std::string_view list, std::string_view what, int64_t count);

}  // namespace troupe::cli
