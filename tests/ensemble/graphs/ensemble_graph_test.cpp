// Ensembles by type of weights, over several steps of training.
#include "ensemble/graphs/ensemble_graph.hpp"

#include "ensemble/names.hpp"
#include "tests/ensemble/graphs/small_search.hpp"

namespace troupe::test {

namespace {

constexpr const char* spec = "t0_a_grow_complexity_regularized";

struct outcome {
  double loss = 0, adanet_loss = 0;
  float bias = 0;
  std::vector<std::string> trainable;
};

/// A member whose outputs are features, alone or the same for each of two heads.
builder shown(bool two_heads, const std::string& name = "a", double complexity = 3) {
  return {.name = name, .build = [two_heads, complexity](graph&, const build_context& c) -> subnetwork {
            const symbol h = c.features["h"], logits = c.features["l"];
            using heads = std::map<std::string, symbol>;
            if (two_heads)
              return {.last_layer = heads{{"one", h}, {"two", h}},
                      .logits = heads{{"one", logits}, {"two", logits}},
                      .complexity = complexity};
            return {.last_layer = h, .logits = logits, .complexity = complexity};
          }};
}

search_options options_of(const ensembler& e, bool two_heads) {
  auto o = small_options({shown(two_heads)});
  const binary_head summed{.loss_reduction = losses::reduction::sum};
  o.head = summed;
  if (two_heads)
    o.head = multi_head{
        .heads = {{.name = "two", .head = summed, .label = "y"}, {.name = "one", .head = summed, .label = "y"}}};
  o.ensemblers = {e};
  return o;
}

tensors matrix_data() {
  return {{"h", tensor::of<float>({2, 3}, {1, 2, 3, -1, .5f, 1})},
          {"l", tensor::of<float>({2, 1}, {.1f, -.3f})},
          {"y", tensor::of<float>({2, 1}, {1, 0})}};
}

using numbers = std::vector<double>;

/// How an ensemble of old and new members of complexity 2 begins, for one head or for each of two.
struct beginning {
  std::vector<numbers> norms, fractions;
  numbers regularization;
  double of_loss = 0;  ///< By how much adanet_loss exceeds the loss.
};
beginning begun(size_t old_members, size_t new_members, bool two_heads = false, std::optional<float> learned = {}) {
  const auto e = complexity_regularized_ensembler{
      .warm_start_mixture_weights = learned.has_value(), .adanet_lambda = .1, .use_bias = two_heads};
  auto o = options_of(e, two_heads);
  o.ensemble_strategies = {strategy::all()};
  o.subnetwork_generator = [=](const generator_input& in) {
    const size_t count = in.iteration == 0 && old_members > 0 ? old_members : new_members;
    std::vector<builder> all;
    for (size_t i = 0; i < count; ++i)
      all.push_back(shown(two_heads, std::string(1, static_cast<char>('a' + i)), 2));
    return all;
  };
  small_search s{o, {}, {}, matrix_data()};
  if (old_members > 0) {
    auto variables = s.variables();
    for (auto& [name, value] : variables)
      if (learned && name.ends_with("mixture_weight"))
        value = tensor::scalar(*learned);
    small_search next{o, s.books_after(0), variables, matrix_data()};
    for (const auto& [name, from] : warm_weights_of(*next.basis, next.candidates()[0], two_heads ? 2 : 1).variables)
      variables[name] = variables.at(from);
    next.ensembles.begin()->second.load(variables);
    s = std::move(next);
  }
  s.train(1);
  auto& [name, group] = *s.ensembles.begin();
  const auto recorded = group.recorded();
  const auto tags = ensemble_scope(s.basis->iteration(), name) + "/";
  const std::string below = "/adanet/adanet_weighted_ensemble";
  beginning found{.of_loss = group.loss() - recorded.at(tags + "loss")};
  for (const std::string head : two_heads ? std::vector{"_one", "_two"} : std::vector{""}) {
    found.regularization.push_back(recorded.at(tags + "complexity_regularization" + below + head));
    auto &norms = found.norms.emplace_back(), &fractions = found.fractions.emplace_back();
    for (size_t k = 0; k < old_members + new_members; ++k) {
      const auto member = below + "/subnetwork" + head + "_" + std::to_string(k);
      norms.push_back(recorded.at(tags + "mixture_weight_norms" + member));
      fractions.push_back(recorded.at(tags + "mixture_weight_fractions" + member));
    }
  }
  return found;
}

void near(const numbers& found, const numbers& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == doctest::Approx(wanted[i]));
}
void near(const beginning& found, const numbers& norms, const numbers& fractions, double regularization) {
  for (size_t head = 0; head < found.norms.size(); ++head) {
    near(found.norms[head], norms);
    near(found.fractions[head], fractions);
    CHECK(found.regularization[head] == doctest::Approx(regularization));
  }
  CHECK(found.of_loss == doctest::Approx(regularization * static_cast<double>(found.norms.size())));
}

/// Three updates of matrix weights that begin with 0.
outcome three_updates(complexity_regularized_ensembler e, bool two_heads = false) {
  e.optimizer = gradient_descent{.rate = .1f};
  e.mixture_weight_type = mixture_weight::matrix;
  small_search s{options_of(e, two_heads), {}, {}, matrix_data()};
  s.train(4);  // The loss after three updates is that of the fourth step.
  const auto& group = s.ensembles.at(spec);
  return {group.recorded().at(ensemble_scope(0, spec) + "/loss"), group.loss(), group.number(bias_key(0, spec)),
          group.trainable()};
}

}  // namespace

TEST_CASE("[ADA-22.2 ensemble builder] matrix weights from 0: lambda and beta raise both losses, a bias is trained") {
  const auto plain = three_updates({}), with_lambda = three_updates({.adanet_lambda = .1}),
             with_beta = three_updates({.adanet_beta = .1}), with_bias = three_updates({.use_bias = true});
  CHECK(plain.adanet_loss == plain.loss);
  for (const auto& penalised : {with_lambda, with_beta}) {
    CHECK(penalised.loss > plain.loss);
    CHECK(penalised.adanet_loss > plain.adanet_loss);
    CHECK(penalised.adanet_loss > penalised.loss);
  }
  const auto weight = mixture_weight_key(0, spec, 0), bias = bias_key(0, spec);
  CHECK(plain.trainable == std::vector<std::string>{weight});
  CHECK(plain.bias == 0);
  CHECK(with_bias.trainable == std::vector<std::string>{bias, weight});
  CHECK(with_bias.bias != 0);
}

TEST_CASE(
    "[ADA-22.2 ensemble builder] two heads have twice the loss and a weight and a bias each, in the order of names") {
  const auto one = three_updates({.adanet_lambda = .1, .use_bias = true}),
             two = three_updates({.adanet_lambda = .1, .use_bias = true}, true);
  CHECK(three_updates({}, true).trainable
        == std::vector<std::string>{mixture_weight_key(0, spec, 0, 0), mixture_weight_key(0, spec, 0, 1)});
  CHECK(two.loss == doctest::Approx(2 * one.loss));
  CHECK(two.adanet_loss == doctest::Approx(2 * one.adanet_loss));
  CHECK(two.trainable
        == std::vector<std::string>{bias_key(0, spec, 0), bias_key(0, spec, 1), mixture_weight_key(0, spec, 0, 0),
                                    mixture_weight_key(0, spec, 0, 1)});
}

TEST_CASE("[ADA-22.2 ensemble builder] a mean has no variables, and variables of others stay as they are") {
  for (const bool two_heads : {false, true}) {
    small_search s{options_of(mean_ensembler{}, two_heads), {}, {}, matrix_data()};
    CHECK(s.ensembles.at("t0_a_grow_mean").trainable().empty());
  }
  auto frozen = dense_builder("a", 3);
  frozen.optimizer.reset();
  auto o = small_options({frozen});
  o.ensemblers = {complexity_regularized_ensembler{.optimizer = gradient_descent{.rate = .1f}}};
  small_search trained{o};
  const auto& ensemble = trained.ensembles.at(spec);
  for (const auto& [name, value] : ensemble.variables())
    CHECK_MESSAGE((name.starts_with(ensemble_scope(0, spec) + "/")
                   || name.starts_with("adanet/iteration_0/candidate_" + std::string{spec} + "/")),
                  name);
  const auto before = trained.subnetworks.at("a").variables();
  const float weight = ensemble.number(mixture_weight_key(0, spec, 0));
  trained.train(3);
  CHECK(trained.subnetworks.at("a").variables() == before);
  CHECK(ensemble.number(mixture_weight_key(0, spec, 0)) != weight);
}

TEST_CASE(
    "[ADA-22.2 mixture weights] scalar weights begin as a uniform average of old and new members, with these norms") {
  near(begun(0, 1), {1}, {1}, .2);
  near(begun(1, 1), {.5, .5}, {.5, .5}, .2);
}

TEST_CASE(
    "[ADA-22.2 regularization] members of one complexity cost the same, however many there are, and each head adds") {
  constexpr double third = 1. / 3;
  for (const bool two_heads : {false, true}) {
    near(begun(1, 1, two_heads), {.5, .5}, {.5, .5}, .2);
    near(begun(2, 1, two_heads), {third, third, third}, {third, third, third}, .2);
    near(begun(2, 2, two_heads), {.25, .25, .25, .25}, {.25, .25, .25, .25}, .2);
  }
}

TEST_CASE("[ADA-22.2 warm start] old members keep their learned weights, and new ones begin with their share of all") {
  for (const bool two_heads : {false, true})
    near(begun(2, 2, two_heads, 1.f), {1, 1, .25, .25}, {.4, .4, .1, .1}, .5);
}

TEST_CASE(
    "[ADA-22.2 bias] logits of one column for 100 rows have a bias of one element, and logits of rank 1 are refused") {
  for (const bool has_columns : {true, false}) {
    const builder flat{.name = "a", .build = [has_columns](graph&, const build_context& c) -> subnetwork {
                         const symbol x = c.features["x"], logits = has_columns ? x : reshape(x, {x.dims()[0]});
                         return {.last_layer = x, .logits = logits, .complexity = 1};
                       }};
    auto o = small_options({flat});
    o.head = regression_head{};
    const std::vector<float> zeros(100, 0.f);
    const tensors data{{"x", tensor::of<float>({100, 1}, zeros)}, {"y", tensor::of<float>({100, 1}, zeros)}};
    if (has_columns)
      CHECK(small_search{o, {}, {}, data}.ensembles.at(spec).variables().at(bias_key(0, spec)).dims() == shape{1});
    else
      refused(built(subnetwork_model(basis_with(o), "a"), data), errc::invalid_argument,
              "logits float32 [batch], which must be floating [batch, 1]");
  }
}

TEST_CASE("[ADA-22.2 multi-head keys] the name of a head is the end of its tags") {
  using heads = std::map<std::string, symbol>;
  auto o = small_options({{.name = "a", .build = [](graph&, const build_context& c) -> subnetwork {
                             return {.last_layer = heads{{"bar_baz", c.features["h"]}},
                                     .logits = heads{{"bar_baz", c.features["l"]}},
                                     .complexity = 1};
                           }}});
  o.head = multi_head{.heads = {{.name = "bar_baz", .head = binary_head{}, .label = "y"}}};
  const auto tags = small_search{o, {}, {}, matrix_data()}.ensembles.at(spec).tags();
  const auto below = ensemble_scope(0, spec) + "/";
  for (const std::string tag : {"complexity_regularization/adanet/adanet_weighted_ensemble_bar_baz",
                                "mixture_weights/adanet/adanet_weighted_ensemble_bar_baz",
                                "mixture_weight_norms/adanet/adanet_weighted_ensemble/subnetwork_bar_baz_0",
                                "mixture_weight_fractions/adanet/adanet_weighted_ensemble/subnetwork_bar_baz_0"})
    CHECK_MESSAGE(tags.contains(below + tag), tag);
}

TEST_CASE("scalar and vector weights begin as a uniform average, with a number for each column") {
  auto o = small_options();
  o.ensemble_strategies = {strategy::all()};
  for (const auto type : {mixture_weight::scalar, mixture_weight::vector}) {
    o.ensemblers = {complexity_regularized_ensembler{.mixture_weight_type = type}};
    const auto basis = basis_with(o);
    small_search s{o};
    const auto variables = s.ensembles.at("t0_all_complexity_regularized").variables();
    for (const size_t k : {0u, 1u}) {
      const auto& w = variables.at(mixture_weight_key(0, "t0_all_complexity_regularized", k));
      CHECK(w.dims() == (type == mixture_weight::scalar ? shape{} : shape{2}));
      CHECK(w.as<float>()[0] == .5f);
    }
  }
}

TEST_CASE("a matrix multiplies each position of a sequence") {
  graph g;
  const symbol h = g.placeholder("h", dtype::float32, {g.unknown("batch"), 2, 3});
  const symbol logits = g.placeholder("l", dtype::float32, {g.unknown("batch"), 2, 4});
  ensemble_context c{.members = {{.who = {0, "rnn"}, .is_new = true, .last_layer = h, .logits = logits}},
                     .logits_dimension = 4};
  head h4;
  h4.logits = 4;
  const auto made = build_ensemble(g, complexity_regularized_ensembler{.mixture_weight_type = mixture_weight::matrix},
                                   {0, "t0_rnn"}, c, h4);
  REQUIRE_MESSAGE(g.status(), (g.status() ? "" : to_text(g.status().error())));
  CHECK(made.logits.dims() == symbol_shape{g.unknown("batch"), 2, 4});
}

TEST_CASE("members that cannot be added are refused with the ensemble and both names") {
  graph g;
  const extent batch = g.unknown("batch");
  const auto at = [&](const char* name, symbol_shape dims) {
    return g.placeholder(name, dtype::float32, std::move(dims));
  };
  ensemble_context c{.members = {{.who = {0, "a"}, .last_layer = at("h", {batch, 3}), .logits = at("l", {batch, 2})},
                                 {.who = {1, "b"}, .last_layer = at("i", {batch, 4}), .logits = at("m", {batch, 2})}},
                     .logits_dimension = 2};
  head h;
  h.logits = 2;
  build_ensemble(g, mean_ensembler{.add_mean_last_layer_predictions = true}, {1, "t1_b_grow_mean"}, c, h);
  refused(
      g.status(), errc::invalid_argument,
      "the ensemble 't1_b_grow_mean': a mean of last layers needs last layers of one shape: those of t0_a are [0, 3], "
      "those of t1_b are [0, 4]");

  graph deep;
  const symbol last = deep.placeholder("h", dtype::float32, {deep.unknown("batch"), 2, 3, 4});
  c.members = {{.who = {0, "a"}, .last_layer = last, .logits = last}};
  build_ensemble(deep, complexity_regularized_ensembler{.mixture_weight_type = mixture_weight::matrix}, {0, "t0_a"}, c,
                 h);
  refused(deep.status(), errc::unimplemented, "matrix weights support a rank of at most 3");
}

TEST_CASE("a custom ensembler has its variables in its scope, and its regularization in the loss") {
  auto o = small_options({dense_builder("a", 3)});
  o.ensemblers = {custom_ensembler{.name = "gated",
                                   .build = [](graph& g, const ensemble_context& c) -> custom_ensemble {
                                     const symbol gate = g.variable({.name = "gate", .initial = init::constant(2)});
                                     return {.logits = c.members[0].logits.one() * gate, .regularization = abs(gate)};
                                   },
                                   .optimizer = gradient_descent{.rate = .1f}}};
  small_search s{o};
  s.train(1);
  auto& group = s.ensembles.at("t0_a_grow_gated");
  CHECK(group.trainable() == std::vector<std::string>{"adanet/iteration_0/ensemble_t0_a_grow_gated/gate"});
  CHECK(group.loss() == doctest::Approx(group.recorded().at("adanet/iteration_0/ensemble_t0_a_grow_gated/loss") + 2));
  CHECK(group.number("adanet/iteration_0/ensemble_t0_a_grow_gated/gate") != 2);
}

}  // namespace troupe::test
