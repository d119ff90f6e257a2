// The groups of an iteration: what they train, expose, read and record.
#include "ensemble/names.hpp"
#include "ensemble/objective.hpp"
#include "tests/ensemble/graphs/small_search.hpp"

#include <limits>

namespace troupe::test {

namespace {

const std::string a_grow = "t0_a_grow_complexity_regularized", b_grow = "t0_b_grow_complexity_regularized";

std::vector<std::string> names_of(const tensors& all) {
  std::vector<std::string> names;
  for (const auto& [name, value] : all)
    names.push_back(name);
  return names;
}

/// A head whose loss is twice the sum of all logits.
head twice_the_sum() {
  head h;
  h.name = "twice_the_sum";
  h.logits = 1;
  h.build = [](graph&, const head_spec_options& o, std::source_location) -> model_spec {
    return {.loss = 2 * reduce_sum(o.logits)};
  };
  return h;
}

/// Logits that are 1 for each row.
builder ones() {
  return {.name = "ones", .build = [](graph&, const build_context& c) -> subnetwork {
            const auto one = c.features["x"] * 0.0 + 1.0;
            return {.last_layer = one, .logits = one, .complexity = 0};
          }};
}

/// The weight of the only member after one step, if it begins with 0 and the loss is twice the weight.
float weight_after_a_step(const std::optional<optimizer>& by) {
  auto o = small_options({ones()});
  o.head = twice_the_sum();
  o.ensemblers = {complexity_regularized_ensembler{.optimizer = by, .mixture_weight_initializer = init::zeros()}};
  small_search s{o, {}, {}, {{"x", tensor::of<float>({1, 1}, {1})}}};
  s.train(1);
  return s.ensembles.begin()->second.number(mixture_weight_key(0, "t0_ones_grow_complexity_regularized", 0));
}

}  // namespace

TEST_CASE("[ADA-22.2 train step] without an optimizer an ensemble does not move, with one it makes its step") {
  CHECK(weight_after_a_step({}) == 0);
  CHECK(weight_after_a_step(gradient_descent{.rate = .1f}) == doctest::Approx(-.2));
}

TEST_CASE("groups have AdaNet's variables, and expose each output under the name of its port") {
  small_search s{small_options()};
  s.train(1);
  using texts = std::vector<std::string>;
  const std::string a = "adanet/iteration_0/subnetwork_t0_a/", mixture = "adanet/iteration_0/ensemble_" + a_grow + "/",
                    average = "adanet/iteration_0/candidate_" + a_grow + "/adanet_loss",
                    penalty = "adanet/iteration_0/candidate_" + a_grow + "/adanet_penalty";
  CHECK(names_of(s.subnetworks.at("a").variables())
        == texts{a + "hidden/bias", a + "hidden/kernel", a + "logits/bias", a + "logits/kernel"});
  CHECK(names_of(s.ensembles.at(a_grow).variables())
        == texts{average, average + "/biased", average + "/local_step", penalty, penalty + "/biased", mixture + "bias",
                 mixture + "weighted_subnetwork_0/logits/mixture_weight"});
  CHECK(names_of(s.exposed)
        == texts{"adanet/t0_a/hidden", "adanet/t0_a/last_layer", "adanet/t0_a/logits", "adanet/t0_b/hidden",
                 "adanet/t0_b/last_layer", "adanet/t0_b/logits"});
}

TEST_CASE("an ensemble minimises the loss of the head plus the regularization once (QUIRK-1)") {
  auto o = small_options();
  small_search s{o};
  s.train(1);
  auto& group = s.ensembles.at(b_grow);
  auto recorded = group.recorded();
  const auto scope = ensemble_scope(0, b_grow) + "/";
  // One member of complexity 2 and weight 1, lambda 0.01.
  CHECK(recorded.at(scope + "complexity_regularization/adanet/adanet_weighted_ensemble") == doctest::Approx(.02));
  CHECK(group.loss() == doctest::Approx(recorded.at(scope + "loss") + .02));
  // d adanet_loss / dw contains the sign of w times lambda · complexity once: compare with the same step without it.
  std::get<complexity_regularized_ensembler>(o.ensemblers[0]).adanet_lambda = 0;
  small_search plain{o};
  plain.train(1);
  const auto key = mixture_weight_key(0, b_grow, 0);
  CHECK(plain.ensembles.at(b_grow).number(key) - group.number(key) == doctest::Approx(.1 * .02).epsilon(1e-3));
}

TEST_CASE("the summaries of an ensemble and a subnetwork have AdaNet's tags below their scopes") {
  small_search s{small_options()};
  s.train(2);
  const auto scope = ensemble_scope(0, a_grow) + "/";
  std::set<std::string> wanted;
  for (const std::string tag :
       {"loss", "adanet_loss/adanet/adanet_weighted_ensemble",
        "complexity_regularization/adanet/adanet_weighted_ensemble", "mixture_weights/adanet/adanet_weighted_ensemble",
        "mixture_weight_norms/adanet/adanet_weighted_ensemble/subnetwork_0",
        "mixture_weight_fractions/adanet/adanet_weighted_ensemble/subnetwork_0"})
    wanted.insert(scope + tag);
  CHECK(s.ensembles.at(a_grow).tags() == wanted);
  const auto recorded = s.ensembles.at(a_grow).recorded();
  CHECK(recorded.at(scope + "mixture_weight_fractions/adanet/adanet_weighted_ensemble/subnetwork_0") == 1);
  const auto own = subnetwork_scope(0, "a") + "/";
  CHECK(s.subnetworks.at("a").tags() == std::set<std::string>{own + "complexity", own + "loss"});

  auto off = small_options();
  off.enable_ensemble_summaries = off.enable_subnetwork_summaries = false;
  small_search silent{off};
  CHECK_MESSAGE(silent.ensembles.at(a_grow).tags() == std::set<std::string>{scope + "loss"}, "for the search itself");
  CHECK(silent.subnetworks.at("a").tags().empty());
}

TEST_CASE(
    "[ADA-22.2 moving average] the average of a group has the bits of loss_average, and is exactly the loss at the "
    "first step") {
  small_search s{small_options()};
  const auto keys = loss_average_keys_of(0, a_grow);
  loss_average wanted, penalty;
  for (int64_t step = 0; step < 40; ++step) {
    s.train(1);
    const auto& group = s.ensembles.at(a_grow);
    wanted.update(static_cast<float>(group.loss()), .9f);
    const auto regularization = group.recorded().at(ensemble_scope(0, a_grow)
                                                    + "/complexity_regularization/adanet/adanet_weighted_ensemble");
    penalty.update(static_cast<float>(regularization), .9f);
    CHECK(group.number(keys.penalty) == penalty.value);
    CHECK(group.number(keys.biased_penalty) == penalty.biased);
    CHECK(group.number(keys.value) == wanted.value);
    CHECK(group.number(keys.biased) == wanted.biased);
    CHECK(group.number(keys.count) == static_cast<float>(wanted.count));
    CHECK(group.recorded().at(ensemble_scope(0, a_grow) + "/adanet_loss/adanet/adanet_weighted_ensemble")
          == static_cast<double>(wanted.value));
  }
}

TEST_CASE("[ADA-22.2 moving average] an average is 0 until the first step of training, and no evaluation changes it") {
  small_search s{small_options()};
  const auto& group = s.ensembles.at(a_grow);
  const auto keys = loss_average_keys_of(0, a_grow);
  const auto evaluate = [&s, &group] {
    group_run evaluated{ensemble_model(s.basis, s.candidates()[0]), joined_tensors(s.data, s.shown_now()),
                        mode::evaluate};
    evaluated.load(s.variables());
    evaluated.run(joined_tensors(s.data, s.shown_now()));
    for (const auto& [name, value] : evaluated.variables())
      CHECK_MESSAGE(value == group.variables().at(name), name);
    CHECK(composite_of(s, s.parts()).evaluate(s.data).at(a_grow + "/adanet_loss") > 0);
  };
  evaluate();
  CHECK(group.number(keys.value) == 0);
  CHECK(group.number(keys.count) == 0);
  s.train(1);
  const float trained = group.number(keys.value);
  CHECK(trained > 0);
  evaluate();
  CHECK(group.number(keys.value) == trained);
  CHECK(group.number(keys.count) == 1);
}

TEST_CASE("an ensemble reads of its members what its weights multiply, and nothing else") {
  auto o = small_options();
  const auto read = [&](const candidate_spec& c) {
    const auto ports = ports_of_ensemble(basis_with(o), c, element_of(small_data()));
    REQUIRE_MESSAGE(ports, (ports ? "" : to_text(ports.error())));
    return *ports;
  };
  using texts = std::vector<std::string>;
  auto specs = *specs_of(*basis_with(o));
  CHECK(read(specs.candidates[0]) == texts{"adanet/t0_a/logits"});
  std::get<complexity_regularized_ensembler>(o.ensemblers[0]).mixture_weight_type = mixture_weight::matrix;
  CHECK(read(specs.candidates[0]) == texts{"adanet/t0_a/last_layer"});
  CHECK(ports_of_subnetwork(basis_with(o), "a", element_of(small_data()))->empty());
}

TEST_CASE("a builder without an optimizer keeps its initial values, and a training of its own replaces both") {
  auto still = dense_builder("still", 3), own = dense_builder("own", 3);
  still.optimizer.reset();
  own.train = [](graph&, const subnetwork& made, symbol loss, const build_context&) -> subnetwork_training {
    return {loss * 0.0 + reduce_sum(square(made.logits.one())),
            optimizer{.rule = gradient_descent{.rate = .01f}, .groups = {{.prefix = "hidden/", .frozen = true}}}};
  };
  small_search s{small_options({still, own})};
  const auto before = s.variables();
  s.train(2);
  const auto after = s.variables();
  for (const auto& [name, value] : before) {
    CAPTURE(name);
    if (name.find("subnetwork_t0_still") != std::string::npos || name.find("t0_own/hidden") != std::string::npos)
      CHECK(after.at(name) == value);
    if (name.ends_with("t0_own/logits/kernel"))
      CHECK_FALSE(after.at(name) == value);
  }
}

TEST_CASE("what a builder returns wrongly is an error that names it and what would be right") {
  const auto refuse = [](errc category, const std::string& text, auto change) {
    auto b = dense_builder("odd", 3);
    const auto inner = b.build;
    b.build = [inner, change](graph& g, const build_context& c) {
      auto made = inner(g, c);
      change(g, c, made);
      return made;
    };
    refused(built(subnetwork_model(basis_with(small_options({b})), "odd"), small_data()), category, text);
  };
  const auto invalid = errc::invalid_argument;
  using made = subnetwork;
  refuse(invalid, "the builder 'odd' returns no logits", [](graph&, auto&, made& x) { x.logits = {}; });
  refuse(invalid, "the builder 'odd' returns no last_layer", [](graph&, auto&, made& x) { x.last_layer = {}; });
  refuse(invalid, "the builder 'odd' returns no complexity", [](graph&, auto&, made& x) { x.complexity.reset(); });
  refuse(invalid, "the builder 'odd' reports the complexity -1", [](graph&, auto&, made& x) { x.complexity = -1; });
  refuse(invalid, "the builder 'odd' reports the complexity nan",
         [](graph&, auto&, made& x) { x.complexity = std::numeric_limits<double>::quiet_NaN(); });
  refuse(invalid, "logits float32 [batch, 3], which must be floating [batch, 2]",
         [](graph&, auto&, made& x) { x.logits = x.last_layer; });
  refuse(invalid, "returns last_layer for 'one', but the heads of the search are not named",
         [](graph&, auto&, made& x) {
           x.last_layer = std::map<std::string, symbol>{{"one", x.logits.one()}};
         });
  refuse(invalid, "an output called 'logits_2'",
         [](graph&, auto&, made& x) { x.outputs["logits_2"] = x.logits.one(); });
  refuse(errc::key_missing, "no component is called 'z'", [](graph&, auto& c, made&) { c.features["z"]; });
  auto empty = dense_builder("odd", 3);
  empty.build = {};
  refused(built(subnetwork_model(basis_with(small_options({empty})), "odd"), small_data()), invalid,
          "the builder 'odd' has no function");
}

TEST_CASE("a function of a builder that throws is an error that names the builder, whichever model calls it") {
  const auto no = []() { throw std::runtime_error{"no"}; };
  const auto says = [](const std::string& what) { return "an exception left " + what + " of the builder 'odd': no"; };
  const auto one = [](builder b) { return basis_with(small_options({std::move(b)})); };
  auto b = dense_builder("odd", 3);
  b.train = [&](graph&, const subnetwork&, symbol, const build_context&) -> subnetwork_training {
    no();
    return {};
  };
  refused(built(subnetwork_model(one(b), "odd"), small_data()), errc::state, says("train()"));
  b = dense_builder("odd", 3);
  b.report = [&](graph&, const subnetwork&, const build_context&) -> builder_report {
    no();
    return {};
  };
  refused(own_reports(one(b), element_of(small_data())), errc::state, says("report()"));
  refused(built(composite_model(one(b), {.subnetworks = {"odd"}, .reports = true}), small_data(), mode::evaluate),
          errc::state, says("report()"));
  b.build = [&](graph&, const build_context&) -> subnetwork {
    no();
    return {};
  };
  const auto basis = one(b);
  refused(built(subnetwork_model(basis, "odd"), small_data()), errc::state, says("build()"));
  refused(built(composite_model(basis, {.subnetworks = {"odd"}}), small_data(), mode::evaluate), errc::state,
          says("build()"));
  refused(own_reports(basis, element_of(small_data())), errc::state, says("build()"));
  auto specs = specs_of(*basis);
  REQUIRE(specs);
  refused(enter_complexities(basis, element_of(small_data()), *specs), errc::state, says("build()"));
}

TEST_CASE("a group of no builder, a previous ensemble in iteration 0 and data with a port's name are refused") {
  const auto basis = basis_with(small_options());
  refused(built(subnetwork_model(basis, "z"), small_data()), errc::invalid_argument,
          "there is no builder called 'z' in iteration 0");
  refused(built(previous_model(basis), small_data()), errc::failed_precondition,
          "iteration 0 has no previous ensemble");
  auto data = small_data();
  data["adanet/t0_a/logits"] = data.at("x");
  refused(ports_of_subnetwork(basis, "a", element_of(data)), errc::invalid_argument,
          "the feature 'adanet/t0_a/logits' of the data");
  for (const int64_t steps : {int64_t{0}, ticks_max + 1}) {
    auto odd = dense_builder("odd", 3);
    odd.steps_max = steps;
    refused(specs_of(*basis_with(small_options({odd}))), errc::invalid_argument,
            "the builder 'odd': steps_max must be from 1 to 2^53, not " + std::to_string(steps));
  }
}

TEST_CASE("with debug a feature that is not finite fails the step with its name, and integers are let through") {
  auto o = small_options({dense_builder("a", 3)});
  o.debug = true;
  group_run group{subnetwork_model(basis_with(o), "a"), small_data()};
  auto data = small_data();
  CHECK(group.gradients(data) == step_status::ok);
  std::vector<float> x(data.at("x").as<float>().begin(), data.at("x").as<float>().end());
  x[3] = std::numeric_limits<float>::quiet_NaN();
  data["x"] = tensor::of<float>({8, 2}, std::span<const float>{x});
  REQUIRE(group.gradients(data) == step_status::bad_input);
  CHECK(has(group.last_error().message, "'x' of the data"));
}

}  // namespace troupe::test
