#include "ensemble/graphs/subnetwork_graph.hpp"

#include "compute/graph/reusable_scope.hpp"
#include "ensemble/graphs/member_graph.hpp"
#include "ensemble/graphs/model_parts.hpp"
#include "ensemble/graphs/outputs.hpp"
#include "words/text.hpp"

namespace troupe {

namespace {

/// The spec of a subnetwork that is built, with what it minimises.
model_spec trained(const search_options& o, graph& g, const builder& b, const std::string& scope,
                   const subnetwork& made, const build_context& c) {
  auto spec = headed(o, g, c.mode, side_by_side(made.logits, o.head), c.features, c.labels);
  spec.optimizer = gradient_descent{};  // What moves nothing, because everything is frozen, if there is no other.
  if (!c.training())
    return spec;
  g.scalar("loss", spec.loss);
  if (b.train) {
    const auto own = called(g, b, "train()", [&] { return b.train(g, made, spec.loss, c); });
    spec.loss = own.loss;
    spec.optimizer = below(scope, own.optimizer);
  } else if (b.optimizer) {
    spec.optimizer = below(scope, *b.optimizer);
  } else {
    freeze(g);
  }
  return spec;
}

/// The context of a builder on data of its own, where nobody computes the previous ensemble.
build_context on_own_data(const search_options& o, graph& g, const builder& b, const build_context& c,
                          const own_batch& batch, previous_outputs& unreadable) {
  build_context own = c;
  own.features = checked_data(o, g, batch.features);
  own.labels = checked_data(o, g, batch.labels);
  if (!b.train && !b.optimizer)
    g.invalid({errc::invalid_argument, "the builder " + quoted(b.name)
                                           + " has data of its own (train_input), and neither optimizer nor train: it "
                                             "never trains on them"});
  if (!c.previous)
    return own;
  const auto refuse = [&g, &b] {
    return g.invalid({errc::unimplemented, "the builder " + quoted(b.name)
                                               + " reads outputs of the previous ensemble, which are not computed on "
                                                 "data of its own (train_input)"});
  };
  unreadable = *c.previous;
  unreadable.logits = refuse;
  unreadable.output = [refuse](size_t, const std::string&) { return refuse(); };
  own.previous = &unreadable;
  return own;
}

/// Builds the subnetwork on the search's data, for those who read it. Returns the head's loss on them.
symbol build_to_predict(const search_options& o, graph& g, const builder& b, const build_context& c, subnetwork& made) {
  auto shown = c;
  shown.mode = mode::predict;
  if (g.status())
    made = build_member(g, b, shown, o.head);
  return g.status() ? headed(o, g, mode::evaluate, side_by_side(made.logits, o.head), c.features, c.labels).loss
                    : symbol{};
}

}  // namespace

built_subnetwork build_subnetwork(const search_options& o, graph& g, const builder& b, const std::string& scope,
                                  const build_context& c, const own_batch& own) {
  const bool bags = c.training() && b.train_input;
  previous_outputs unreadable;
  const auto trains = bags ? on_own_data(o, g, b, c, own, unreadable) : c;
  reusable_scope variables{g, scope};
  built_subnetwork made;
  {
    const auto guard = variables.enter();
    made.shown = build_member(g, b, trains, o.head);
    if (!g.status())
      return made;
    made.spec = trained(o, g, b, scope, made.shown, trains);
  }
  if (bags && g.status()) {
    const auto guard = variables.enter();
    made.search_loss = build_to_predict(o, g, b, c, made.shown);
  }
  return made;
}

/// Data of its own have the components of those of the search.
element_spec data_of_group(const iteration_basis& basis, const std::string& builder, element_spec data) {
  const auto* b = basis.find({basis.iteration(), builder});
  if (!b || !b->train_input)
    return data;
  for (auto* all : {&data.features, &data.labels})
    for (size_t i = 0, count = all->size(); i < count; ++i) {
      auto own = (*all)[i];
      own.name = std::string{own_data_port} + "/" + own.name;
      all->push_back(std::move(own));
    }
  return data;
}

}  // namespace troupe
