// What a model function must have returned before anything is planned (estimator.md 6.2).
#pragma once

#include <troupe/model.hpp>

namespace troupe {

/// The first error kept in `g`; else invalid_argument naming the field: another mode than `m`; a loss, an optimizer or
/// predictions that `m` needs and are not there; a loss or metric that is not one floating (metric: numeric) element; a
/// symbol of another graph; a metric called `loss` or `global_step`. Fields that `m` ignores are not looked at.
expected<void> check(const model_spec& spec, const graph& g, mode m);

/// The model, whose function now also refuses, in the graph, what it returned and should not have. invalid_argument: it has no function.
expected<std::shared_ptr<const model>> checked(const model& m);

}  // namespace troupe
