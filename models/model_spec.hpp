// Checks the spec that a model function returned, before anything is planned.
#pragma once

#include <troupe/model.hpp>

namespace troupe {

/// Checks a spec for mode `m`. Returns the first error kept in `g`; else invalid_argument, naming the field, for: a
/// mode other than `m`; a missing loss, optimizer or predictions that `m` needs; a loss that is not one floating
/// element; a sum of a metric that is not floating or of unknown shape; a metric without sums or without its function;
/// a symbol of another graph; a metric called `loss` or `global_step`. Fields that `m` ignores are not checked.
expected<void> check(const model_spec& spec, const graph& g, mode m);

/// The model, with a build function that also checks its result and keeps any error in the graph. invalid_argument if
/// the model has no function.
expected<std::shared_ptr<const model>> checked(const model& m);

}  // namespace troupe
