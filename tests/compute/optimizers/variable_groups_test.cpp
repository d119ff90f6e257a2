// Variable groups of an optimizer: their rates, rules and decays, frozen variables, and which groups are refused.
#include "compute/program/planned_update.hpp"
#include "tests/compute/optimizers/made_up_variables.hpp"

namespace troupe {

using namespace test;

TEST_CASE("a group's rate is a factor of the scheduled one, and the first group that fits decides") {
  auto o = descent();
  o.groups = {{.prefix = "a/", .suffix = "bias", .rate_factor = 3}, {.prefix = "a/", .rate_factor = 0.5f}};
  made_up m{o};
  m.draw(1, 1);
  std::vector<tensor> before;
  for (const char* name : names)
    before.push_back(m.copy(name));
  m.apply(0);
  const double factors[] = {0.5, 3, 1, 1};
  for (size_t i = 0; i < 4; ++i)
    CHECK(m.moved(names[i], before[i]) == doctest::Approx(factors[i] * m.gradient_norm(names[i])).epsilon(1e-4));
}

TEST_CASE(
    "variables of a group with a rule have the bits and slots of that rule alone, and the others those of the "
    "optimizer's own") {
  const update_rule wide = ftrl{.rate = 0.2f, .l1 = 0.01f}, deep = momentum{.rate = 0.05f};
  made_up both{{.rule = deep, .groups = {{.prefix = "a/", .rule = wide}}, .moving_average = 0.9f}};
  made_up only_wide{{.rule = wide, .moving_average = 0.9f}}, only_deep{{.rule = deep, .moving_average = 0.9f}};
  for (int64_t step = 0; step < 5; ++step)
    for (auto* m : {&both, &only_wide, &only_deep}) {
      m->draw(step, 1);
      m->apply(step);
    }
  for (const auto& e : both.layout.entries()) {
    CAPTURE(e.name);
    const auto& alone = e.name.starts_with("a/") ? only_wide : only_deep;
    REQUIRE(alone.layout.find(e.name) >= 0);
    CHECK(both.value(e.name) == alone.value(e.name));
  }
  CHECK(both.layout.find("a/bias/Ftrl_1") >= 0);
  CHECK(both.layout.find("a/bias/Momentum") < 0);
  CHECK(both.layout.find("b/scale/Momentum") >= 0);
  CHECK(both.layout.find("b/scale/Ftrl") < 0);
  CHECK(both.layout.ranges().size() == 3);  // float32 under both rules, float64 under one.
}

TEST_CASE("the schedule begins at the rate of a group's own rule, and a group in front of it adds its factor") {
  auto o = descent();
  o.schedule = exponential_decay{.decay_steps = 1, .decay_rate = 0.5f};
  o.groups = {{.suffix = "/bias", .rate_factor = 3}, {.prefix = "a/", .rule = gradient_descent{.rate = 0.1f}}};
  made_up m{o};
  const double rates[] = {0.1, 0.3, 1, 1};
  for (int64_t step = 0; step < 3; ++step) {
    m.draw(step, 1);
    std::vector<tensor> before;
    for (const char* name : names)
      before.push_back(m.copy(name));
    m.apply(step);
    for (size_t i = 0; i < 4; ++i)
      CHECK(m.moved(names[i], before[i])
            == doctest::Approx(rates[i] * std::pow(0.5, step) * m.gradient_norm(names[i])).epsilon(1e-4));
  }
}

TEST_CASE("a frozen variable has no slots and no gradient, lies in the shared part and keeps its value") {
  tensor x = noise<float>({12, 4}, 1), y = classes(12, 3);
  const optimizer o{.rule = momentum{.rate = 0.1f}, .groups = {{.prefix = "dense/", .frozen = true}}};
  trainer t([&](graph& g) { return classifier(g, {4, 8, 3}, dtype::float32, o); }, {.batch = 12});
  const auto& e = t.layout.entries()[static_cast<size_t>(t.layout.find("dense/kernel"))];
  CHECK((e.trainable && !e.updated && e.gradient_offset == -1));
  CHECK(t.layout.find("dense/kernel/Momentum") == -1);
  CHECK(t.layout.find("dense_1/kernel/Momentum") >= 0);
  const tensor before = tensor::copy_of(dtype::float32, {4, 8}, t.value("dense/kernel").bytes());
  REQUIRE(t.step({x.data(), y.data()}, 0) == step_status::ok);
  const double first = t.run->loss();
  for (int64_t step = 1; step < 200; ++step)
    REQUIRE(t.step({x.data(), y.data()}, step) == step_status::ok);
  CHECK(t.value("dense/kernel") == before);
  CHECK(t.run->loss() < 0.8 * first);
}

TEST_CASE("a group that fits no variable and an optimizer that freezes them all are refused") {
  const auto refused = [](const optimizer& o) {
    graph g;
    g.variable({.name = "dense/kernel", .dims = {2}});
    g.variable({.name = "mean", .dims = {2}, .trainable = false});
    const auto layout = parameter_layout::of(g, o);
    return layout ? std::string{} : layout.error().message;
  };
  CHECK(refused({.groups = {{.prefix = "dense/", .rate_factor = 2}}}) == "");
  CHECK(refused({.groups = {{.prefix = "dens/", .rate_factor = 2}}})
        == "optimizer: no trainable variable belongs to the group \"dens/*\"");
  CHECK(refused({.groups = {{.suffix = "mean", .rate_factor = 2}}})
        == "optimizer: no trainable variable belongs to the group \"*mean\"");
  CHECK(refused({.groups = {{.prefix = "dense/", .frozen = true}}}) == "optimizer: every trainable variable is frozen");
}

TEST_CASE(
    "weight decay that a variable has from one group is refused where FTRL is its rule by another, in any order, and "
    "nowhere else") {
  const auto refused = [](const optimizer& o) {
    graph g;
    for (const char* name : {"deep/kernel", "deep/bias", "wide/kernel", "wide/bias"})
      g.variable({.name = name, .dims = {2}});
    const auto layout = parameter_layout::of(g, o);
    return layout ? std::string{} : layout.error().message;
  };
  const std::string of_kernel =
      "optimizer: weight_decay, 0.1 for 'wide/kernel', means nothing to ftrl, whose variables are made anew at each "
      "step; it has l2 "
      "and l2_shrinkage";
  const variable_group decaying{.suffix = "kernel", .weight_decay = 0.1f},
      plain{.suffix = "kernel", .weight_decay = 0.0f};
  const variable_group wide{.prefix = "wide/", .rule = ftrl{}}, deep{.prefix = "deep/", .rule = adam{}};
  CHECK(refused({.groups = {decaying, wide}}) == of_kernel);
  CHECK(refused({.rule = ftrl{}, .groups = {decaying, deep}}) == of_kernel);
  CHECK(refused({.weight_decay = 0.1f, .groups = {{.suffix = "bias", .weight_decay = 0.0f}, wide}}) == of_kernel);
  CHECK_MESSAGE(refused({.groups = {wide, decaying}}) == "", "the first group that fits gives the decay");
  CHECK(refused({.weight_decay = 0.1f, .groups = {plain, {.suffix = "wide/bias", .weight_decay = 0.0f}, wide}}) == "");
  CHECK(refused({.rule = ftrl{}, .groups = {{.prefix = "deep/", .weight_decay = 0.1f}, deep}}) == "");
  CHECK(refused({.groups = {{.prefix = "wide/", .weight_decay = 0.1f, .frozen = true}, wide}}) == "");
}

}  // namespace troupe
