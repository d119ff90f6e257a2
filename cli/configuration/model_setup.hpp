// [model] becomes a model, with the optimizer of [optimizer].
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/model.hpp>

namespace troupe::cli {

/// invalid_argument: a key that is missing, or one that belongs to another type of model.
expected<model> make_model(const settings& given);

}  // namespace troupe::cli
