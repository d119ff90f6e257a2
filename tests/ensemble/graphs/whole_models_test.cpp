// The composite model of an iteration, the winner's model, and growth from one iteration to the next.
#include "ensemble/graphs/search_graph.hpp"
#include "ensemble/names.hpp"
#include "models/model_spec.hpp"
#include "tests/ensemble/graphs/small_search.hpp"

#include <cmath>
#include <limits>

namespace troupe::test {

namespace {

using results = std::map<std::string, double>;

/// A search whose ensembles are a weighted sum and a mean.
search_options two_ensemblers() {
  auto o = small_options();
  o.ensemblers.push_back(mean_ensembler{});
  return o;
}

/// The losses of all groups at the state at hand, by spec.
results losses_of(small_search& s) {
  results losses;
  const auto shown = joined_tensors(s.data, s.shown_now());
  for (auto& [name, run] : s.subnetworks)
    losses[subnetwork_spec_name(s.basis->iteration(), name)] = run.loss();
  for (auto& [spec, run] : s.ensembles) {
    REQUIRE(run.gradients(shown) == step_status::ok);
    losses[spec] = run.loss();
  }
  if (s.previous)
    losses[s.basis->previous()->spec] = s.previous->loss();
  return losses;
}

/// An iteration 1 that goes on from a trained iteration 0, in which candidate 0 has won.
small_search grown_search(const search_options& o) {
  small_search first{o};
  first.train(3);
  return small_search{o, first.books_after(0), first.variables()};
}

tensor not_a_number(const tensor& like) {
  const std::vector<float> values(static_cast<size_t>(like.elements()), std::numeric_limits<float>::quiet_NaN());
  return tensor::of<float>(like.dims(), std::span<const float>{values});
}

}  // namespace

TEST_CASE("the composite model has the variables of all groups, and the loss of each spec has the bits of its group") {
  for (const bool grown : {false, true}) {
    CAPTURE(grown);
    auto s = grown ? grown_search(two_ensemblers()) : small_search{two_ensemblers()};
    s.train(3);
    auto whole = composite_of(s, s.parts());
    for (const auto& [name, value] : whole.variables()) {
      CAPTURE(name);
      REQUIRE(s.variables().contains(name));
      CHECK(s.variables().at(name) == value);
    }
    const auto metrics = whole.evaluate(s.data);
    CHECK(whole.loss() == 0);
    for (const auto& [spec, loss] : losses_of(s)) {
      CAPTURE(spec);
      const bool has_penalty = spec.ends_with("complexity_regularized") && s.ensembles.contains(spec);
      CHECK(metrics.at(spec + (has_penalty ? "/adanet_loss" : "/loss")) == loss);
    }
  }
}

TEST_CASE("the metrics of one spec get their plain names") {
  small_search s{two_ensemblers()};
  const auto all = composite_of(s, s.parts()).evaluate(s.data);
  const auto own = metrics_of(all, "t0_a_grow_mean");
  CHECK(own.at("loss") == all.at("t0_a_grow_mean/loss"));
  CHECK(own.at("adanet_loss") == own.at("loss"));
  CHECK(own.at("accuracy") == all.at("t0_a_grow_mean/accuracy"));
  CHECK_FALSE(metrics_of(all, "t0_a").contains("adanet_loss"));
  CHECK(metrics_of(all, "t0").empty());
}

TEST_CASE("of ten candidates the fourth one is asked for, and its value is 3") {
  std::map<std::string, double> all;
  for (int i = 0; i < 10; ++i)
    all[ensemble_spec_name(0, grow_candidate_name("b" + std::to_string(i)), mean_name) + "/value"] = i;
  CHECK(metrics_of(all, "t0_b3_grow_mean") == results{{"value", 3}});
}

TEST_CASE("a candidate that is not a number harms neither the evaluation nor the others") {
  auto o = two_ensemblers();
  o.head = binary_head{};
  small_search s{o};
  auto whole = composite_of(s, s.parts());
  const auto healthy = whole.evaluate(s.data);
  const std::string kernel = "adanet/iteration_0/subnetwork_t0_b/logits/kernel";
  whole.load({{kernel, not_a_number(whole.variables().at(kernel))}});
  const auto metrics = whole.evaluate(s.data);
  CHECK(metrics.size() == healthy.size());
  for (const auto& [name, value] : healthy) {
    CAPTURE(name);
    if (name.starts_with("t0_a"))
      CHECK(metrics.at(name) == value);
  }
  for (const std::string spec : {"t0_b", "t0_b_grow_mean", "t0_b_grow_complexity_regularized"})
    CHECK(std::isnan(metrics.at(spec + "/loss")));
}

TEST_CASE("composite and winner read moving averages in place of the variables that have them") {
  small_search s{small_options()};
  const auto winner = winner_model(s.basis, s.candidates()[0]);
  for (const auto& [m, what] : {std::pair{composite_model(s.basis, s.parts()), mode::evaluate},
                                {winner, mode::evaluate},
                                {winner, mode::predict}}) {
    const auto made = built(m, s.data, what);
    REQUIRE(made);
    CHECK(layout_of(**made)->reads_averages());
  }
}

TEST_CASE("labels are checked in a composite model as everywhere") {
  auto o = small_options();
  small_search s{o};
  auto data = s.data;
  data["y"] = tensor::of<int32_t>({8}, {1, 0, 1, 0, 1, 0, 1, 7});
  const auto model = composite_model(s.basis, s.parts());
  const auto graph = built(model, data, mode::evaluate);
  REQUIRE(graph);
  const auto layout = *layout_of(**graph);
  const auto store = *parameter_store::create(layout, 1);
  store->initialise(1);
  const auto run = *program::make((*graph)->g, (*graph)->spec, layout, {.batch = 8});
  std::vector<const std::byte*> feeds;
  for (const auto& c : run->inputs())
    feeds.push_back(data.at(c.name).data());
  CHECK(run->run({.parameters = store->arena(0), .shared = store->shared(), .feeds = feeds}) == step_status::bad_input);
}

TEST_CASE(
    "the previous ensemble keeps all of its variables, and exposes what its members exposed when they were trained") {
  small_search first{two_ensemblers()};
  first.train(3);
  const auto wanted = first.shown_now();
  small_search second{two_ensemblers(), first.books_after(1), first.variables()};
  const auto before = second.previous->variables();
  second.train(2);
  CHECK(second.previous->variables() == before);
  for (const std::string port : {"adanet/t0_b/logits", "adanet/t0_b/last_layer", "adanet/t0_b/hidden"}) {
    CAPTURE(port);
    CHECK(second.exposed.at(port) == wanted.at(port));
  }
  CHECK(second.exposed.contains("adanet/t0_b_grow_complexity_regularized/logits"));
  CHECK_FALSE(second.exposed.contains("adanet/t0_a/logits"));
  CHECK(second.previous->trainable().empty());
}

TEST_CASE("members of the previous ensemble drop out only if they are replicated in training") {
  auto o = small_options();
  auto dropping = dense_builder("a", 8);
  dropping.build = [](graph&, const build_context& c) -> subnetwork {
    const auto h = dropout(nn::dense(c.features["x"], {.units = 8}), .5, c.training());
    return {.last_layer = h, .logits = nn::dense(h, {.units = 2, .name = "logits"}), .complexity = 1};
  };
  o.subnetwork_generator = generators::list({dropping});
  const auto shown_twice = [&] {
    auto s = grown_search(o);
    const auto one = s.previous->train(s.data, 1), two = s.previous->train(s.data, 2);
    return one.at("adanet/t0_a/logits") == two.at("adanet/t0_a/logits");
  };
  CHECK(shown_twice());
  o.replicate_ensemble_in_training = true;
  CHECK_FALSE(shown_twice());
}

TEST_CASE(
    "a builder reads logits, hidden layers and shared values of the previous ensemble, through ports that it asks "
    "for") {
  auto o = small_options();
  auto seen = std::make_shared<std::pair<int64_t, double>>();
  o.subnetwork_generator = [seen](const generator_input& in) -> std::vector<builder> {
    if (in.iteration == 0)
      return {dense_builder("a", 3)};
    return {{.name = "deeper",
             .build = [seen](graph&, const build_context& c) -> subnetwork {
               *seen = {std::any_cast<int64_t>(c.previous->facts(0).shared), *c.previous->facts(0).complexity};
               const auto h = nn::dense(c.previous->output(0, "hidden"), {.units = 4, .activation = relu});
               return {.last_layer = h, .logits = nn::dense(h, {.units = 2, .name = "logits"}), .complexity = 2};
             },
             .train = [](graph&, const subnetwork& made, symbol loss, const build_context& c) -> subnetwork_training {
               return {loss + reduce_mean(square(made.logits.one() - c.previous->logits())), momentum{.rate = .1f}};
             }}};
  };
  small_search first{o};
  first.train(2);
  small_search second{o, first.books_after(0), first.variables()};
  CHECK(*seen == std::pair<int64_t, double>{3, 1});
  const auto ports = ports_of_subnetwork(second.basis, "deeper", element_of(second.data));
  REQUIRE_MESSAGE(ports, (ports ? "" : to_text(ports.error())));
  CHECK(*ports == std::vector<std::string>{"adanet/t0_a/hidden", "adanet/t0_a_grow_complexity_regularized/logits"});
  second.train(2);
  auto whole = composite_of(second, second.parts());
  CHECK(std::isfinite(whole.evaluate(second.data).at("t1_deeper/loss")));
}

TEST_CASE("only what is reachable is built: a Solo candidate takes no variables of the iterations before") {
  auto o = small_options({dense_builder("a", 3)});
  o.ensemble_strategies = {strategy::solo()};
  auto s = grown_search(o);
  s.train(1);
  const auto winner = winner_model(s.basis, s.specs.candidates[1]);
  for (const auto& [name, value] : group_run{winner, s.data, mode::predict, {"y"}}.variables())
    CHECK_MESSAGE(name.starts_with("adanet/iteration_1/"), name);
}

TEST_CASE("a winner has the new members that it had as a candidate, so that an ensembler makes of it what was chosen") {
  auto o = small_options({dense_builder("a", 3), dense_builder("b", 5)});
  o.ensemblers = {custom_ensembler{.name = "newer", .build = [](graph&, const ensemble_context& c) {
                                     symbol sum;
                                     for (const auto& m : c.members) {
                                       const auto part = m.is_new ? 3.0f * m.logits.one() : m.logits.one();
                                       sum = sum.valid() ? sum + part : part;
                                     }
                                     return custom_ensemble{.logits = sum};
                                   }}};
  small_search first{o};
  first.train(3);
  const auto spec = first.specs.candidates[0].spec;
  const double as_candidate = losses_of(first).at(spec);
  small_search second{o, first.books_after(0), first.variables()};
  CHECK(second.previous->loss() == as_candidate);
  CHECK(composite_of(second, second.parts()).evaluate(second.data).at(spec + "/loss") == as_candidate);
  const auto members = members_of(*second.basis, second.specs.candidates[1]);
  REQUIRE(members.size() == 2);
  CHECK_FALSE(members[0].is_new);
  CHECK(members[1].is_new);
}

TEST_CASE("a warm start gives kept members their weights, and the bias only if nobody was left out") {
  auto o = small_options();
  auto& e = std::get<complexity_regularized_ensembler>(o.ensemblers[0]);
  small_search first{o};
  const auto books = first.books_after(0);
  const auto grow = "t1_a_grow_complexity_regularized";
  CHECK(warm_weights_of(*basis_with(o, books), specs_of(*basis_with(o, books))->candidates[1]).variables.empty());
  e.warm_start_mixture_weights = true;
  const auto basis = basis_with(o, books);
  const auto warm = warm_weights_of(*basis, specs_of(*basis)->candidates[1]);
  const auto from = books.winners[0].spec;
  CHECK(warm.variables
        == std::vector<inherited_variable>{{mixture_weight_key(1, grow, 0), mixture_weight_key(0, from, 0)},
                                           {bias_key(1, grow), bias_key(0, from)}});
  o.ensemble_strategies = {strategy::solo()};
  const auto alone = basis_with(o, [&] {
    auto changed = books;
    changed.winners[0].recipe.candidate = "a_solo";
    return changed;
  }());
  const auto pruned = warm_weights_of(*alone, specs_of(*alone)->candidates[1]);
  CHECK(pruned.variables.empty());
  CHECK(has(pruned.remark, "keeps 0 of the 1 members"));
}

TEST_CASE("a builder that the generator no longer returns, and a generator that throws, are errors of the iteration") {
  small_search first{small_options()};
  const auto books = first.books_after(0);
  refused(basis_of(small_options({dense_builder("other", 3)}), books), errc::failed_precondition,
          "iteration 0 has trained the builder 'a', which the generator no longer returns: it returns other");
  auto o = small_options();
  o.subnetwork_generator = [](const generator_input& in) -> std::vector<builder> {
    if (in.iteration == 1)
      throw std::runtime_error("no more ideas");
    return {dense_builder("a", 3), dense_builder("b", 5, 2)};
  };
  refused(basis_of(o, books), errc::state, "asked for iteration 1: no more ideas");
  refused(specs_of(*basis_with(small_options({}))), errc::invalid_argument, "the generator returned no builders");
  refused(specs_of(*basis_with(small_options({dense_builder("a", 3), dense_builder("a", 4)}))), errc::invalid_argument,
          "two builders have the name 'a'");
}

TEST_CASE("the winner predicts and exports what the head and the members say, and is trained by its search alone") {
  auto o = two_ensemblers();
  std::get<mean_ensembler>(o.ensemblers[1]).add_mean_last_layer_predictions = true;
  o.export_subnetwork_logits = true;
  small_search s{o};
  const auto candidates = s.candidates();
  const auto winner = winner_model(s.basis, candidates[2]);
  CHECK(winner.name == "t0_a_grow_mean");
  auto data = s.data;
  data.erase("y");
  const auto graph = built(winner, data, mode::predict);
  REQUIRE_MESSAGE(graph, (graph ? "" : to_text(graph.error())));
  const auto& spec = (*graph)->spec;
  CHECK(check(spec, (*graph)->g, mode::predict));
  CHECK(spec.predictions.contains("probabilities"));
  CHECK(spec.predictions.contains("mean_last_layer"));
  CHECK(spec.export_outputs.at("subnetwork_logits").contains("t0_a"));
  CHECK(spec.export_outputs.at("subnetwork_last_layer").contains("t0_a"));
  CHECK(spec.export_outputs.contains("serving_default"));
  refused(built(winner, s.data), errc::failed_precondition, "is trained by its search alone");
}

TEST_CASE("the winner alone has the bits that it has among all candidates") {
  auto s = grown_search(two_ensemblers());
  s.train(2);
  const auto metrics = composite_of(s, s.parts()).evaluate(s.data);
  for (const auto& candidate : s.specs.candidates) {
    CAPTURE(candidate.spec);
    group_run alone{winner_model(s.basis, candidate), s.data, mode::evaluate};
    alone.load(s.variables());
    const auto own = alone.evaluate(s.data);
    CHECK(own.at("loss") == metrics.at(candidate.spec + "/loss"));
    CHECK(own.at("accuracy") == metrics.at(candidate.spec + "/accuracy"));
  }
}

}  // namespace troupe::test
