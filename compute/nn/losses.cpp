#include "compute/graph/graph.hpp"

#include <troupe/losses.hpp>

#include <optional>
#include <utility>

namespace troupe::losses {
namespace {

/// total / count; 0 where the count is 0.
symbol ratio(graph& g, symbol total, symbol count, std::source_location at) {
  const symbol zero = fill(g, 0, total.type(), {}, at), one = fill(g, 1, total.type(), {}, at);
  const symbol nothing = equal(count, zero, at);
  return select(nothing, zero, div(total, select(nothing, one, count, at), at), at);
}

/// Opens a scope of the loss's name if the operands are floating and of one shape; else keeps an error. Also puts a
/// check on `labels`: a label that is not finite fails the step.
std::optional<graph::scope_guard> checked(std::string_view name, symbol& labels, symbol predictions,
                                          std::source_location at) {
  graph* g = common_graph(name, {labels, predictions}, at);
  if (!g)
    return {};
  if (labels.type() != predictions.type() || !is_floating(labels.type()) || labels.dims() != predictions.dims()) {
    refuse(*g, name,
           "labels and predictions must be floating and of one shape, not " + describe(labels) + " and "
               + describe(predictions),
           at);
    return {};
  }
  auto scope = g->scope(name);
  labels = check_numerics(labels, "labels", at);
  return scope;
}

symbol invalid_of(symbol a, symbol b) {
  return a.owner() ? symbol_of(*a.owner(), -1) : b.owner() ? symbol_of(*b.owner(), -1) : symbol{};
}

/// Returns the amount of label smoothing and sets it to 0 in the options. If it is invalid, keeps an error in the graph
/// and returns nothing.
std::optional<double> take_smoothing(graph& g, std::string_view name, options& o, std::source_location at) {
  const double share = std::exchange(o.label_smoothing, 0);
  if (share >= 0 && share <= 1)
    return share;
  refuse(g, name, "label_smoothing must be in [0, 1], not " + std::to_string(share), at);
  return {};
}

symbol number(symbol like, double value, std::source_location at) {
  return fill(*like.owner(), value, like.type(), {}, at);
}

/// Label smoothing: (1 - s)·loss + s·(the loss under a uniform label), since the loss is linear in the labels.
symbol smoothed(std::string_view name, symbol losses, symbol log_likelihoods, options& o, std::source_location at) {
  const auto share = take_smoothing(*losses.owner(), name, o, at);
  if (!share)
    return symbol_of(*losses.owner(), -1);
  if (*share == 0)
    return losses;
  return sub(scale(losses, 1 - *share, at), scale(reduce_mean(log_likelihoods, {{-1}}, at), *share, at), at);
}

}  // namespace

symbol reduce(symbol losses, options o, std::source_location at) {
  graph* g = common_graph("losses::reduce", {losses}, at);
  if (!g)
    return losses;
  if (o.label_smoothing != 0)
    return refuse(
        *g, "losses::reduce",
        "label_smoothing is for softmax_cross_entropy, sparse_softmax_cross_entropy and sigmoid_cross_entropy only",
        at);
  const bool weighted = o.weights.owner() != nullptr;
  if (weighted) {
    if (!common_graph("losses::reduce", {losses, o.weights}, at))
      return symbol_of(*g, -1);
    const auto dims = troupe::broadcast_to(o.weights, symbol_shape{losses.dims()}, at);
    if (!dims.valid())
      return dims;
    o.weights = dims;
    losses = mul(losses, o.weights, at);
  }
  if (o.reduce == reduction::none || !losses.valid())
    return losses;
  const symbol total = reduce_sum(losses, {}, at);
  if (o.reduce == reduction::sum)
    return total;
  if (!weighted || o.reduce == reduction::sum_over_batch_size)
    return reduce_mean(losses, {}, at);
  const symbol zero = number(losses, 0, at);
  const symbol count = o.reduce == reduction::mean
                           ? o.weights
                           : stop_gradient(cast(not_equal(o.weights, zero, at), losses.type(), at), at);
  return ratio(*g, total, reduce_sum(count, {}, at), at);
}

symbol softmax_cross_entropy(symbol labels, symbol logits, options o, std::source_location at) {
  const auto scope = checked("softmax_cross_entropy", labels, logits, at);
  if (!scope)
    return invalid_of(labels, logits);
  const symbol likelihoods = log_softmax(logits, at),
               each = neg(reduce_sum(mul(labels, likelihoods, at), {{-1}}, at), at);
  return reduce(smoothed("softmax_cross_entropy", each, likelihoods, o, at), o, at);
}

symbol sparse_softmax_cross_entropy(symbol labels, symbol logits, options o, std::source_location at) {
  graph* g = common_graph("sparse_softmax_cross_entropy", {labels, logits}, at);
  if (!g)
    return invalid_of(labels, logits);
  symbol losses;
  if (logits.rank() == labels.rank() + 1 && logits.rank() != 2) {  // Flattens rows along any number of axes.
    const symbol flat = reshape(labels, {extent{-1}}, at),
                 rows = reshape(logits, {extent{-1}, logits.dims().back()}, at);
    losses = reshape(troupe::sparse_softmax_cross_entropy(flat, rows, at), symbol_shape{labels.dims()}, at);
  } else {
    losses = troupe::sparse_softmax_cross_entropy(labels, logits, at);
  }
  if (o.label_smoothing != 0 && losses.valid())
    losses = smoothed("sparse_softmax_cross_entropy", losses, log_softmax(logits, at), o, at);
  return reduce(losses, o, at);
}

symbol sigmoid_cross_entropy(symbol labels, symbol logits, options o, std::source_location at) {
  const auto scope = checked("sigmoid_cross_entropy", labels, logits, at);
  if (!scope)
    return invalid_of(labels, logits);
  const auto share = take_smoothing(*logits.owner(), "sigmoid_cross_entropy", o, at);
  if (!share)
    return invalid_of(labels, logits);
  if (*share > 0)
    labels = add(scale(labels, 1 - *share, at), number(labels, *share / 2, at), at);
  // x·(p - z) + log(1 + e^-|x|), with p = 1 where x >= 0, else 0. In softplus(x) - x·z a large x would absorb the
  // logarithm.
  const symbol positive = greater_equal(logits, number(logits, 0, at), at);
  const symbol p = select(positive, number(logits, 1, at), number(logits, 0, at), at);
  const symbol bend = softplus(select(positive, neg(logits, at), logits, at), at);
  return reduce(add(mul(logits, sub(p, labels, at), at), bend, at), o, at);
}

symbol squared(symbol labels, symbol predictions, options o, std::source_location at) {
  const auto scope = checked("squared", labels, predictions, at);
  return scope ? reduce(square(sub(predictions, labels, at), at), o, at) : invalid_of(labels, predictions);
}

symbol absolute(symbol labels, symbol predictions, options o, std::source_location at) {
  const auto scope = checked("absolute", labels, predictions, at);
  return scope ? reduce(abs(sub(predictions, labels, at), at), o, at) : invalid_of(labels, predictions);
}

symbol huber(symbol labels, symbol predictions, double delta, options o, std::source_location at) {
  const auto scope = checked("huber", labels, predictions, at);
  if (!scope)
    return invalid_of(labels, predictions);
  if (!(delta > 0))
    return refuse(*labels.owner(), "huber", "delta must be above 0, not " + std::to_string(delta), at);
  const symbol e = abs(sub(predictions, labels, at), at), quadratic = minimum(e, number(e, delta, at), at);
  return reduce(add(scale(square(quadratic, at), 0.5, at), scale(sub(e, quadratic, at), delta, at), at), o, at);
}

symbol hinge(symbol labels, symbol logits, options o, std::source_location at) {
  const auto scope = checked("hinge", labels, logits, at);
  if (!scope)
    return invalid_of(labels, logits);
  const symbol one = number(logits, 1, at), side = sub(scale(labels, 2, at), one, at);
  return reduce(relu(sub(one, mul(side, logits, at), at), at), o, at);
}

symbol log(symbol labels, symbol predictions, double epsilon, options o, std::source_location at) {
  const auto scope = checked("log", labels, predictions, at);
  if (!scope)
    return invalid_of(labels, predictions);
  const symbol one = number(labels, 1, at), tiny = number(labels, epsilon, at);
  const symbol yes = mul(labels, troupe::log(add(predictions, tiny, at), at), at);
  const symbol no = mul(sub(one, labels, at), troupe::log(add(sub(one, predictions, at), tiny, at), at), at);
  return reduce(neg(add(yes, no, at), at), o, at);
}

symbol kl_divergence(symbol labels, symbol predictions, options o, std::source_location at) {
  const auto scope = checked("kl_divergence", labels, predictions, at);
  if (!scope)
    return invalid_of(labels, predictions);
  constexpr double least = 1e-7;
  const symbol p = clip(labels, least, 1, at), q = clip(predictions, least, 1, at);
  return reduce(reduce_sum(mul(p, troupe::log(div(p, q, at), at), at), {{-1}}, at), o, at);
}

}  // namespace troupe::losses
