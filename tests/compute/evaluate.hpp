// Evaluates an expression over constants, or the gradient of a scalar, without a model.
#pragma once

#include "tests/compute/model_fixture.hpp"

namespace troupe::test {

/// The value of the expression that `build` makes. Placeholders are not fed.
inline tensor evaluate(const std::function<symbol(graph&)>& build, const step_input& in = {}) {
  graph g;
  model_spec spec;
  spec.mode = mode::predict;
  spec.predictions["value"] = build(g);
  const auto layout = *parameter_layout::of(g, std::nullopt);
  auto p = program::make(g, spec, layout, {});
  REQUIRE_MESSAGE(p, (p ? "" : to_text(p.error())));
  REQUIRE((*p)->run(in) == step_status::ok);
  return (*p)->output(0);
}

}  // namespace troupe::test
