#include "ensemble/graphs/ensemble_graph.hpp"

#include "ensemble/graphs/outputs.hpp"
#include "ensemble/names.hpp"
#include "ensemble/objective.hpp"
#include "words/text.hpp"

namespace troupe {

namespace {

std::string member_name(const ensembled_member& m) { return subnetwork_spec_name(m.who.iteration, m.who.builder); }

expected<void> check_same_heads(const std::vector<ensembled_member>& members, const ensembler_needs& needs) {
  const auto is_map = [&](const ensembled_member& m) { return (needs.logits ? m.logits : m.last_layer).is_map(); };
  for (const auto& m : members)
    if (is_map(m) != is_map(members.front()))
      return fail(errc::invalid_argument, "members of one ensemble must all have outputs by head or none of them: "
                                              + member_name(members.front()) + " and " + member_name(m) + " differ");
  return {};
}

/// The values of one output of all members, for each head.
struct member_values {
  std::optional<std::string> head;
  std::string suffix;
  std::vector<symbol> values;
};
std::vector<member_values> by_heads(const std::vector<ensembled_member>& members, by_head ensembled_member::*output) {
  std::vector<member_values> all;
  for (const auto& one : heads_of(members.front().*output)) {
    all.push_back({one.head, one.suffix, {}});
    for (const auto& m : members)
      all.back().values.push_back(one.head ? (m.*output).all().at(*one.head) : (m.*output).one());
  }
  return all;
}

by_head as_heads(const std::vector<std::pair<std::optional<std::string>, symbol>>& all) {
  if (!all.front().first)
    return all.front().second;
  std::map<std::string, symbol> heads;
  for (const auto& [head, value] : all)
    heads[*head] = value;
  return heads;
}

symbol sum_of(const std::vector<symbol>& terms) {
  symbol sum;
  for (const symbol term : terms)
    sum = sum.valid() ? sum + term : term;
  return sum;
}

// -- complexity regularization -----------------------------------------------------------

/// One head of a complexity-regularized ensemble.
class weighted_head {
 public:
  weighted_head(graph& g, const complexity_regularized_ensembler& e, const ensemble_place& where,
                const ensemble_context& c, int64_t logits)
    : graph_(g), options_(e), where_(where), context_(c), logits_(logits) {}

  /// `inputs` are logits or last layers, by member; `number` is that of the head.
  symbol build(const member_values& inputs, size_t number, ensemble_weights& made) {
    const auto starts = weight_starts(options_.mixture_weight_type, {}, inputs.values.size(), false);
    std::vector<symbol> terms, penalties;
    for (size_t k = 0; k < inputs.values.size(); ++k) {
      const symbol w = weight(k, number, inputs.values[k], starts[k].fill);
      terms.push_back(weighted(inputs.values[k], w));
      made.norms.push_back(reduce_sum(abs(w)));
      if (const double factor = penalty_of(context_.members[k].complexity); factor != 0)
        penalties.push_back(scale(made.norms.back(), factor));
    }
    made.suffix = inputs.suffix;
    made.regularization = penalties.empty() ? graph_.constant(tensor::scalar(0.f)) : sum_of(penalties);
    terms.insert(terms.begin(), bias(number, inputs.values.front().type()));
    return sum_of(terms);
  }

 private:
  bool trains() const { return options_.optimizer.has_value(); }

  double penalty_of(double complexity) const {
    return (options_.adanet_lambda == 0 ? 0 : options_.adanet_lambda * complexity) + options_.adanet_beta;
  }
  symbol weight(size_t member, size_t number, symbol input, float fill) {
    const auto rows = input.rank() > 1 ? shape_of(input) : shape{};
    const member_shapes shapes{.last_layer = rows, .logits = shape{1, logits_}};
    return graph_.variable(
        {.name = mixture_weight_key(where_.iteration, where_.spec, member, number),
         .dims = mixture_weight_shape(options_.mixture_weight_type, shapes),
         .type = input.type(),
         .initial = options_.mixture_weight_initializer.value_or(init::constant(static_cast<double>(fill))),
         .trainable = trains()});
  }
  symbol weighted(symbol input, symbol w) const {
    if (options_.mixture_weight_type != mixture_weight::matrix)
      return mul(input, w);
    if (input.rank() != 3)
      return matmul(input, w);
    const auto dims = input.dims();
    return reshape(matmul(reshape(input, {extent{-1}, dims[2]}), w), {dims[0], dims[1], extent{logits_}});
  }
  symbol bias(size_t number, dtype type) {
    return graph_.variable({.name = bias_key(where_.iteration, where_.spec, number),
                            .dims = {logits_},
                            .type = type,
                            .trainable = trains() && options_.use_bias});
  }

  graph& graph_;
  const complexity_regularized_ensembler& options_;
  const ensemble_place& where_;
  const ensemble_context& context_;
  int64_t logits_;
};

int64_t logits_of(const std::optional<std::string>& name, const ensemble_context& c, const head& h) {
  for (const auto& part : h.parts)
    if (name == part.name)
      return part.logits;
  return c.logits_dimension;
}

expected<void> check_shapes(const complexity_regularized_ensembler& e, const std::vector<ensembled_member>& members,
                            const member_values& inputs, int64_t logits) {
  const bool matrix = e.mixture_weight_type == mixture_weight::matrix;
  std::vector<member_shapes> shapes;
  for (size_t k = 0; k < members.size(); ++k)
    shapes.push_back({member_name(members[k]), matrix ? shape_of(inputs.values[k]) : shape{},
                      matrix ? shape{0, logits} : shape_of(inputs.values[k])});
  return check_members(e.mixture_weight_type, shapes);
}

expected<built_ensemble> build(graph& g, const complexity_regularized_ensembler& e, const ensemble_place& where,
                               const ensemble_context& c, const head& h) {
  const bool matrix = e.mixture_weight_type == mixture_weight::matrix;
  const auto inputs = by_heads(c.members, matrix ? &ensembled_member::last_layer : &ensembled_member::logits);
  built_ensemble made;
  std::vector<std::pair<std::optional<std::string>, symbol>> logits;
  std::vector<symbol> regularization;
  for (size_t number = 0; number < inputs.size(); ++number) {
    const auto count = logits_of(inputs[number].head, c, h);
    if (auto right = check_shapes(e, c.members, inputs[number], count); !right)
      return fail(std::move(right.error()));
    ensemble_weights weights;
    logits.emplace_back(inputs[number].head,
                        weighted_head{g, e, where, c, count}.build(inputs[number], number, weights));
    regularization.push_back(weights.regularization);
    made.weights.push_back(std::move(weights));
  }
  made.logits = side_by_side(as_heads(logits), h);
  made.regularization = sum_of(regularization);
  return made;
}

// -- mean --------------------------------------------------------------------------------

symbol mean_of(const std::vector<symbol>& values) { return sum_of(values) / static_cast<double>(values.size()); }

expected<built_ensemble> build(graph&, const mean_ensembler& e, const ensemble_place&, const ensemble_context& c,
                               const head& h) {
  built_ensemble made;
  std::vector<std::pair<std::optional<std::string>, symbol>> logits;
  for (const auto& one : by_heads(c.members, &ensembled_member::logits))
    logits.emplace_back(one.head, mean_of(one.values));
  made.logits = side_by_side(as_heads(logits), h);
  if (!e.add_mean_last_layer_predictions || is_missing(c.members.front().last_layer))
    return made;
  for (const auto& one : by_heads(c.members, &ensembled_member::last_layer)) {
    for (size_t k = 0; k < one.values.size(); ++k)
      if (one.values[k].dims() != one.values.front().dims())
        return fail(errc::invalid_argument,
                    "a mean of last layers needs last layers of one shape: those of " + member_name(c.members.front())
                        + " are " + to_text(shape_of(one.values.front())) + ", those of " + member_name(c.members[k])
                        + " are " + to_text(shape_of(one.values[k])));
    made.predictions["mean_last_layer" + one.suffix] = mean_of(one.values);
  }
  return made;
}

// -- custom ------------------------------------------------------------------------------

expected<built_ensemble> build(graph& g, const custom_ensembler& e, const ensemble_place& where,
                               const ensemble_context& c, const head& h) {
  if (!e.build)
    return fail(errc::invalid_argument, "it has no function to build an ensemble");
  const auto first = variable_count(g);
  custom_ensemble own;
  {
    const fixed_scope scope{g, ensemble_scope(where.iteration, where.spec)};
    own = e.build(g, c);
  }
  if (!e.optimizer)
    freeze(g, first);
  if (is_missing(own.logits))
    return fail(errc::invalid_argument, "it returns no logits");
  for (const auto& part : h.parts)
    if (own.logits.is_map() && !own.logits.all().contains(part.name))
      return fail(errc::invalid_argument, "it returns no logits for the head " + quoted(part.name));
  return built_ensemble{side_by_side(own.logits, h), own.regularization, own.predictions, {}};
}

}  // namespace

ensembler_needs needs_of(const ensembler& e) {
  if (const auto* regularized = std::get_if<complexity_regularized_ensembler>(&e)) {
    const bool matrix = regularized->mixture_weight_type == mixture_weight::matrix;
    return {.logits = !matrix, .last_layer = matrix};
  }
  return {.logits = true, .last_layer = std::holds_alternative<custom_ensembler>(e)};
}

const std::optional<optimizer>& optimizer_of(const ensembler& e) {
  static const std::optional<optimizer> none;
  if (const auto* regularized = std::get_if<complexity_regularized_ensembler>(&e))
    return regularized->optimizer;
  const auto* custom = std::get_if<custom_ensembler>(&e);
  return custom ? custom->optimizer : none;
}

built_ensemble build_ensemble(graph& g, const ensembler& e, const ensemble_place& where, const ensemble_context& c,
                              const head& h) {
  const fixed_scope whole_names{g, ""};  // A builder that reads this ensemble may have a scope open.
  auto made = check_same_heads(c.members, needs_of(e)).and_then([&] {
    return std::visit([&](const auto& options) { return build(g, options, where, c, h); }, e);
  });
  if (made)
    return *made;
  auto wrong = std::move(made.error());
  wrong.message = "the ensemble " + quoted(where.spec) + ": " + wrong.message;
  g.invalid(std::move(wrong));
  return {};
}

}  // namespace troupe
