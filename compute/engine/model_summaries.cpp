#include "compute/engine/model_summaries.hpp"

#include "compute/graph/graph.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// Whether a step changes any variable by the optimizer's rate.
bool has_rate(const model_graph& of) {
  const auto& variables = contents_of(of.g).variables;
  return of.what == mode::train
         && std::any_of(variables.begin(), variables.end(), [](const auto& v) { return v.options.trainable; });
}

}  // namespace

std::vector<const variable_options*> shown_variables(const model_graph& of) {
  const auto& g = contents_of(of.g);
  std::vector<const variable_options*> shown;
  for (const auto& v : g.variables)
    if (v.options.trainable
        && std::none_of(g.summaries.begin(), g.summaries.end(), [&](const auto& s) { return s.tag == v.options.name; }))
      shown.push_back(&v.options);
  return shown;
}

summary_recipes recipes_of(const model_graph& of, int64_t first_step) {
  summary_recipes recipes{{}, has_rate(of) ? of.spec.optimizer : std::nullopt, first_step};
  for (const bool texts : {false, true}) {
    for (const auto& s : contents_of(of.g).summaries)
      if ((s.node < 0) == texts)
        recipes.all.push_back({s.what, s.tag, s.text});
    if (!texts)
      for (const auto* v : shown_variables(of))
        recipes.all.push_back({summary_value::kind::histogram, v->name, {}});
  }
  return recipes;
}

}  // namespace troupe
