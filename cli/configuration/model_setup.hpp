// Turns [model] into a model, with the optimizer of [optimizer].
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/model.hpp>

namespace troupe::cli {

/// invalid_argument: a missing key, or a key of another type of model.
expected<model> make_model(const settings& given);

}  // namespace troupe::cli
