#include "compute/graph/model_graph.hpp"

#include "compute/graph/graph.hpp"
#include "words/guarded.hpp"
#include "words/text.hpp"

namespace troupe {

static expected<void> check_host_calls(const graph_contents& g, const model& source) {
  for (const auto& call : g.host_calls) {
    const auto function = source.host_calls.find(call.name);
    if (function == source.host_calls.end() || !function->second)
      return fail(
          errc::invalid_argument,
          "the model '" + source.name + "' makes the host call " + quoted(call.name)
              + ", for which its `host_calls` have no function"
              + (source.host_calls.empty() ? std::string{}
                                           : "; they have " + joined(source.host_calls, ", ", [](const auto& f) {
                                               return quoted(f.first) + (f.second ? "" : " (empty)");
                                             })));
  }
  return {};
}

static expected<void> check_names(const element_spec& element) {
  for (const auto& l : element.labels)
    for (const auto& f : element.features)
      if (f.name == l.name)
        return fail(errc::invalid_argument, "the data have a feature and a label named " + quoted(l.name)
                                                + ", and the inputs of a graph have names of their own: name one "
                                                  "otherwise (dataset::map can)");
  return {};
}

expected<std::unique_ptr<model_graph>> build_graph(const model& source, const element_spec& element, mode m) {
  if (auto named = check_names(element); !named)
    return fail(named.error());
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
  if (auto called = check_host_calls(contents_of(d->g), source); !called)
    return fail(called.error());
  d->host_calls = source.host_calls;
  return d;
}

}  // namespace troupe
