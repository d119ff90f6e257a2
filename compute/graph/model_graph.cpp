#include "compute/graph/model_graph.hpp"

#include "compute/graph/graph.hpp"
#include "words/guarded.hpp"

namespace troupe {

expected<std::unique_ptr<model_graph>> build_graph(const model& source, const element_spec& element, mode m) {
  auto d = std::make_unique<model_graph>();
  d->what = m;
  contents_of(d->g).states_are_initial = m == mode::predict;
  const extent batch = d->g.unknown("batch");
  const auto placeholders = [&](const std::vector<component>& group) {
    std::map<std::string, symbol> symbols;
    for (const auto& c : group) {
      symbol_shape dims{batch};
      for (int64_t e : c.dims.extents())
        dims.emplace_back(e);
      symbols[c.name] = d->g.placeholder(c.name, c.type, std::move(dims));
    }
    return named_symbols{&d->g, std::move(symbols)};
  };
  const auto features = placeholders(element.features);
  const auto labels = placeholders(element.labels);
  auto described = guarded("the function of the model '" + source.name + "'",
                           [&] { return source.build(d->g, features, labels, m); });
  if (!described)
    return fail(described.error());
  d->spec = std::move(*described);
  d->spec.mode = d->spec.mode.value_or(m);
  if (auto status = d->g.status(); !status)
    return fail(status.error());
  if (auto carried = check_states(contents_of(d->g)); !carried)
    return fail(carried.error());
  return d;
}

}  // namespace troupe
