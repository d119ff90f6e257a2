#include "compute/graph/graph.hpp"

#include <troupe/heads.hpp>

namespace troupe {

symbol head_labels::get(std::source_location at) const {
  const auto* all = std::get_if<troupe::labels>(&value_);
  return all ? all->only(at) : std::get<symbol>(value_);
}

symbol head_labels::get(graph& g, std::string_view name, std::source_location at) const {
  if (const auto* all = std::get_if<troupe::labels>(&value_))
    return (*all)[{name, at}];
  return g.invalid(
      {errc::invalid_argument, "the label '" + std::string{name}
                                   + "' cannot be told from a single symbol: pass the labels of the model function"},
      at);
}

model_spec head::spec(graph& g, const head_spec_options& options, std::source_location at) const {
  model_spec nothing{.mode = options.mode, .optimizer = options.optimizer, .at = at};
  const auto refuse = [&](error e) {
    g.invalid(std::move(e), at);
    return nothing;
  };
  if (wrong)
    return refuse(*wrong);
  if (!build)
    return refuse({errc::invalid_argument, "a model needs a head, such as troupe::multi_class_head{.classes = 10}"});
  const symbol x = options.logits;
  if (!x.valid())
    return x.owner() ? nothing : refuse({errc::invalid_argument, "a " + name + " needs logits"});
  if (!is_floating(x.type()) || x.rank() != 2 || x.dims()[1] != extent{logits})
    return refuse({errc::invalid_argument, "the logits of a " + name + " must be floating [batch, "
                                               + std::to_string(logits) + "], not " + describe(x)});
  auto made = build(g, options, at);
  made.mode = options.mode;
  made.optimizer = options.optimizer;
  made.at = at;
  return made;
}

}  // namespace troupe
