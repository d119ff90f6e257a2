#include "examples/paper/adanet.hpp"

#include <troupe/nn.hpp>

namespace paper {

namespace {

std::string layer_name(int64_t k) { return "layer_" + std::to_string(k); }

/// The hidden layers of a member, by the name of its builder.
int64_t depth_of(const tr::ensemble_member& member) { return std::stoll(member.builder); }

/// What layer k reads: `own`, the layer below of the same subnetwork, and that layer of all earlier ones that have it.
tr::symbol inputs_of(int64_t k, tr::symbol own, const tr::build_context& c) {
  std::vector<tr::symbol> all{own};
  if (k > 1 && c.previous)
    for (size_t i = 0; i < c.previous->recipe.members.size(); ++i)
      if (depth_of(c.previous->recipe.members[i]) >= k - 1)
        all.push_back(c.previous->output(i, layer_name(k - 1)));
  return all.size() == 1 ? own : tr::concat(all);
}

/// relu(z·K + bias), where the columns of K, the weights of the units, have 2-norms of at most Λ.
tr::symbol hidden_layer(tr::graph& g, const adanet_options& o, int64_t k, tr::symbol z) {
  const auto scope = g.scope(layer_name(k));
  const tr::symbol free = g.variable(
      {.name = "kernel", .dims = {z.dims()[1].coefficient, o.units}, .initial = tr::init::he_uniform()});
  const tr::symbol bias = g.variable({.name = "bias", .dims = {o.units}});
  const tr::symbol norms = tr::sqrt(tr::reduce_sum(tr::square(free), {.axes = {0}, .keep = true}));
  const tr::symbol cut = tr::minimum(g.constant(tr::tensor::scalar(1.f)), o.weight_norm / norms);
  // Products are cut in place of columns, because there are fewer of them.
  return tr::relu(tr::matmul(z, free) * cut + bias);
}

tr::subnetwork build(tr::graph& g, const adanet_options& o, int64_t depth, const tr::build_context& c) {
  tr::subnetwork made;
  tr::symbol h = c.features.only();
  for (int64_t k = 1; k <= depth; ++k) {
    h = hidden_layer(g, o, k, inputs_of(k, h, c));
    made.outputs.emplace(layer_name(k), h);
  }
  // w begins with 0: a candidate begins as the network so far, with the same F.
  const tr::symbol w = g.variable({.name = "w", .dims = {o.units, 1}});
  const double complexity = o.complexity(depth);
  const tr::symbol penalty = o.lambda * complexity * tr::reduce_sum(tr::abs(w), {.keep = true});
  // Ensemblers read logits and last layers only, so the last layer carries the penalty, once for each row.
  made.last_layer = tr::broadcast_to(penalty, {g.unknown("batch"), 1});
  made.logits = tr::matmul(h, w);
  made.complexity = complexity;
  return made;
}

/// F as a function of what the subnetwork adds to the network so far.
tr::symbol objective(const tr::subnetwork& made, const tr::build_context& c) {
  tr::symbol f = made.logits.one();
  if (c.previous)
    f = c.previous->logits() + f;
  return surrogate_loss(c.labels.only(), f) + tr::reduce_mean(made.last_layer.one());
}

tr::custom_ensemble sum(const tr::ensemble_context& c) {
  tr::symbol f, penalty;
  for (const auto& member : c.members) {
    f = f.valid() ? f + member.logits.one() : member.logits.one();
    const tr::symbol its_own = tr::reduce_mean(member.last_layer.one());
    penalty = penalty.valid() ? penalty + its_own : its_own;
  }
  return {.logits = f, .regularization = penalty};
}

}  // namespace

tr::builder subnetwork_builder(const adanet_options& o, int64_t depth) {
  return {.name = std::to_string(depth) + "_layer",
          .build = [o, depth](tr::graph& g, const tr::build_context& c) { return build(g, o, depth, c); },
          .train =
              [o](tr::graph&, const tr::subnetwork& made, tr::symbol, const tr::build_context& c) {
                return tr::subnetwork_training{.loss = objective(made, c), .optimizer = o.optimizer};
              }};
}

tr::generator two_depths(const adanet_options& o) {
  return [o](const tr::generator_input& in) {
    int64_t depth = 1;
    if (in.previous)
      for (const auto& member : in.previous->members)
        depth = std::max(depth, depth_of(member));
    return std::vector{subnetwork_builder(o, depth), subnetwork_builder(o, depth + 1)};
  };
}

tr::ensembler sum_of_members() {
  return tr::custom_ensembler{.name = "sum", .build = [](tr::graph&, const tr::ensemble_context& c) { return sum(c); }};
}

tr::searcher paper_search(const adanet_options& o, const tr::dataset& training, tr::run_config config) {
  return {{.head = paper_head(),
           .subnetwork_generator = two_depths(o),
           .max_iteration_steps = o.steps,
           .ensemblers = {sum_of_members()},
           .evaluator = tr::search_evaluator{.input = training},
           .enable_ensemble_summaries = false,
           .enable_subnetwork_summaries = false,
           .max_iterations = o.rounds},
          std::move(config)};
}

tr::expected<grown_network> grow(const adanet_options& o, const tr::dataset& batches, const tr::dataset& training,
                                 const tr::run_config& config,
                                 const std::function<tr::expected<bool>(const grown_network&)>& after_round) {
  const auto searcher = paper_search(o, training, config);
  grown_network grown;
  for (int64_t round = 0; round < o.rounds; ++round) {
    // A call ends with its iteration, which stays open: the winner so far is the best of the candidates and the
    // network before. Only the next call would begin another iteration.
    const auto found = tr::train(searcher, {.input = batches, .max_steps = (round + 1) * o.steps});
    if (!found)
      return tr::fail(found.error());
    grown.trained += 2;
    if (static_cast<int64_t>(found->search->winner.members.size()) == round)
      break;  // The network before has won: nothing lowers F.
    grown.recipe = found->search->winner;
    auto winner = tr::winner_of(searcher);
    if (!winner)
      return tr::fail(winner.error());
    grown.network = std::move(*winner);
    const auto go_on = after_round ? after_round(grown) : tr::expected<bool>{true};
    if (!go_on)
      return tr::fail(go_on.error());
    if (!*go_on)
      break;
  }
  return grown;
}

}  // namespace paper
