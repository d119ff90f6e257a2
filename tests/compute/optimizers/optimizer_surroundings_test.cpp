// The parts of an update around its rule: clipping, weight decay, variable groups and averages. Every division into
// slices must give the same bits.
#include "compute/program/planned_update.hpp"

#include "tests/compute/model_fixture.hpp"

#include <cmath>

namespace troupe {

using namespace test;

namespace {

const char* const names[] = {"a/kernel", "a/bias", "b/kernel", "b/scale"};

/// Variables of both dtypes, some longer than a chunk of a norm, with made-up gradients.
struct made_up {
  graph g;
  optimizer o;
  parameter_layout layout;
  std::shared_ptr<parameter_store> store;
  std::shared_ptr<std::byte> gradient;
  planned_update update;

  explicit made_up(optimizer by) : o(std::move(by)) {
    for (const auto& [name, n, type] : {std::tuple{"a/kernel", int64_t{9001}, dtype::float32}, {"a/bias", int64_t{5}, dtype::float32},
                                        {"b/kernel", int64_t{777}, dtype::float32}, {"b/scale", int64_t{4100}, dtype::float64}})
      g.variable({.name = name, .dims = {n}, .type = type, .initial = init::normal(0, 1)});
    auto made = parameter_layout::of(g, o);
    REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
    layout = *made;
    store = *parameter_store::create(layout, 1);
    store->initialise(3);
    gradient = allocate_buffer(layout.gradient_bytes());
    auto planned = planned_update::of(o, layout);
    REQUIRE_MESSAGE(planned, (planned ? "" : to_text(planned.error())));
    update = std::move(*planned);
  }
  const parameter_entry& entry(std::string_view name) const { return layout.entries()[static_cast<size_t>(layout.find(name))]; }
  tensor value(std::string_view name) const { return store->view(0, layout.find(name)); }
  tensor copy(std::string_view name) const { return tensor::copy_of(value(name).type(), value(name).dims(), value(name).bytes()); }

  /// Fills the gradient with noise times `size`. A variable's noise does not depend on its offset.
  void draw(int64_t step, double size) {
    std::memset(gradient.get(), 0, static_cast<size_t>(layout.gradient_bytes()));
    for (const auto& e : layout.entries()) {
      if (e.gradient_offset < 0)
        continue;
      const auto number = std::find(std::begin(names), std::end(names), e.name) - std::begin(names);
      const tensor x = noise<double>(e.dims, static_cast<uint64_t>(step * 10 + number));
      for (int64_t i = 0; i < e.dims.elements(); ++i)
        if (const double v = size * x.as<double>()[static_cast<size_t>(i)]; e.type == dtype::float64)
          reinterpret_cast<double*>(gradient.get() + e.gradient_offset)[i] = v;
        else
          reinterpret_cast<float*>(gradient.get() + e.gradient_offset)[i] = static_cast<float>(v);
    }
  }
  void apply(int64_t step, int replicas = 1) {
    for (int r = replicas - 1; r >= 0; --r) {
      const auto slice = layout.slice(r, replicas);
      update.prepare(slice, gradient.get());
      update.apply(step, slice, gradient.get(), store->arena(0), store->arena(0));
    }
  }
  bool same_as(const made_up& other) const {
    return std::memcmp(store->arena(0), other.store->arena(0), static_cast<size_t>(layout.arena_bytes())) == 0;
  }
  double element(const tensor& t, int64_t i) const {
    return t.type() == dtype::float64 ? t.as<double>()[static_cast<size_t>(i)] : static_cast<double>(t.as<float>()[static_cast<size_t>(i)]);
  }
  double gradient_norm(std::string_view name) const {
    const auto& e = entry(name);
    double sum = 0;
    for (int64_t i = 0; i < e.dims.elements(); ++i) {
      const double v = e.type == dtype::float64 ? reinterpret_cast<const double*>(gradient.get() + e.gradient_offset)[i]
                                                : static_cast<double>(reinterpret_cast<const float*>(gradient.get() + e.gradient_offset)[i]);
      sum += v * v;
    }
    return std::sqrt(sum);
  }
  /// The distance that one step of gradient descent with rate 1 has moved a variable.
  double moved(std::string_view name, const tensor& before) const {
    const tensor after = value(name);
    double sum = 0;
    for (int64_t i = 0; i < before.elements(); ++i)
      sum += std::pow(element(after, i) - element(before, i), 2);
    return std::sqrt(sum);
  }
};

optimizer descent() { return gradient_descent{.rate = 1}; }

}  // namespace

TEST_CASE("one, two, three, four and seven slices of an update have the same bits, whatever needs a norm") {
  for (const optimizer& o : {optimizer{.rule = adam{}, .clip = {.norm = 0.5f}},
                             optimizer{.rule = momentum{}, .clip = {.value = 0.3f, .norm = 3, .global_norm = 0.7f}},
                             optimizer{.rule = lamb{.weight_decay = 0.01f}, .clip = {.global_norm = 1}, .moving_average = 0.9f},
                             optimizer{.rule = adamw{}, .schedule = cosine_decay{.decay_steps = 9}, .groups = {{.prefix = "a/", .rate_factor = 0.5f}}},
                             optimizer{.rule = rmsprop{.centered = true}, .weight_decay = 0.01f, .moving_average = 0.9f},
                             optimizer{.rule = adagrad{}, .groups = {{.prefix = "a/", .rule = lamb{}}}},
                             optimizer{.rule = ftrl{.l1 = 0.01f}, .clip = {.global_norm = 1}, .groups = {{.suffix = "/kernel", .rule = amsgrad{}},
                                                                                                        {.prefix = "b/", .rule = gradient_descent{}}},
                                       .moving_average = 0.9f}}) {
    CAPTURE(to_text(o));
    made_up whole{o};
    for (int replicas : {2, 3, 4, 7}) {
      CAPTURE(replicas);
      made_up again{o}, sliced{o};
      for (int64_t step = 0; step < 3; ++step) {
        again.draw(step, 1);
        sliced.draw(step, 1);
        again.apply(step);
        sliced.apply(step, replicas);
      }
      CHECK(again.same_as(sliced));
    }
  }
}

TEST_CASE("slices of LAMB are whole variables, of other optimizers even shares") {
  made_up whole{lamb{}}, even{adam{}};
  for (int replicas : {1, 2, 3, 7}) {
    int64_t at = 0;
    for (int r = 0; r < replicas; ++r) {
      const auto [first, last] = whole.layout.slice(r, replicas);
      CHECK(first == at);
      CHECK((first == whole.layout.gradient_bytes()
             || std::any_of(std::begin(names), std::end(names), [&](const char* n) { return whole.entry(n).gradient_offset == first; })));
      at = last;
    }
    CHECK(at == whole.layout.gradient_bytes());
  }
  CHECK(std::abs(2 * even.layout.slice(0, 2).second - even.layout.gradient_bytes()) <= 128);
}

TEST_CASE("a gradient clipped by value moves no element further than the limit") {
  auto o = descent();
  o.clip.value = 0.25f;
  made_up m{o};
  m.draw(1, 1);
  const tensor before = m.copy("b/kernel");
  m.apply(0);
  const auto* g = reinterpret_cast<const float*>(m.gradient.get() + m.entry("b/kernel").gradient_offset);
  for (int64_t i = 0; i < 777; ++i)
    CHECK(m.element(m.value("b/kernel"), i) == static_cast<double>(before.as<float>()[static_cast<size_t>(i)] - std::clamp(g[i], -0.25f, 0.25f)));
}

TEST_CASE("clipping by norm shortens each variable's gradient to the limit, and leaves a shorter one as it is") {
  auto o = descent();
  o.clip.norm = 3;
  made_up m{o}, free{descent()};
  m.draw(1, 0.5);
  free.draw(1, 0.5);
  REQUIRE(m.gradient_norm("a/bias") < 3);
  REQUIRE(m.gradient_norm("b/scale") > 3);
  std::vector<tensor> before;
  for (const char* name : names)
    before.push_back(m.copy(name));
  m.apply(0);
  free.apply(0);
  for (size_t i = 0; i < 4; ++i)
    CHECK(m.moved(names[i], before[i]) == doctest::Approx(std::min(3.0, m.gradient_norm(names[i]))).epsilon(1e-4));
  CHECK(m.value("a/bias") == free.value("a/bias"));
}

TEST_CASE("clipping by the global norm shortens all gradients alike, and is nothing below it") {
  double norm = 0;
  made_up free{descent()};
  free.draw(1, 0.5);
  for (const char* name : names)
    norm += std::pow(free.gradient_norm(name), 2);
  norm = std::sqrt(norm);
  auto o = descent();
  o.clip.global_norm = static_cast<float>(norm / 4);
  made_up m{o};
  m.draw(1, 0.5);
  for (const char* name : names) {
    made_up one{o};
    one.draw(1, 0.5);
    const tensor before = one.copy(name);
    one.apply(0);
    CHECK(one.moved(name, before) == doctest::Approx(one.gradient_norm(name) / 4).epsilon(1e-4));
  }
  o.clip.global_norm = static_cast<float>(norm * 1.01);
  made_up loose{o};
  loose.draw(1, 0.5);
  loose.apply(0);
  free.apply(0);
  CHECK(loose.same_as(free));
}

TEST_CASE("limits that nothing reaches and a group that changes nothing have the bits of none") {
  for (const update_rule& rule : {update_rule{gradient_descent{}}, update_rule{momentum{}}, update_rule{adam{}}, update_rule{ftrl{}}, update_rule{lamb{}}}) {
    made_up bare{{.rule = rule}}, wide{{.rule = rule, .clip = {.value = 1e6f, .norm = 1e6f, .global_norm = 1e6f}, .groups = {{.prefix = "a/"}}}};
    for (int64_t step = 0; step < 3; ++step)
      for (auto* m : {&bare, &wide}) {
        m->draw(step, 1);
        m->apply(step);
      }
    CHECK(bare.same_as(wide));
  }
}

TEST_CASE("decoupled weight decay follows the schedule and not the rate, and a group may have its own") {
  made_up m{{.rule = gradient_descent{.rate = 0.5f},
             .schedule = exponential_decay{.decay_steps = 1, .decay_rate = 0.5f},
             .weight_decay = 0.1f,
             .groups = {{.suffix = "/bias", .weight_decay = 0.0f}}}};
  const tensor kernel = m.copy("b/kernel"), scale = m.copy("b/scale"), bias = m.copy("a/bias");
  m.draw(0, 0);
  m.apply(0);
  m.apply(1);
  for (int64_t i : {0, 5, 776}) {
    CHECK(m.element(m.value("b/kernel"), i) == doctest::Approx(m.element(kernel, i) * 0.9 * 0.95));
    CHECK(m.element(m.value("b/scale"), i) == doctest::Approx(m.element(scale, i) * 0.9 * 0.95));
  }
  CHECK(m.value("a/bias") == bias);
}

TEST_CASE("adam with a weight decay is AdamW, and a group takes AdamW's and LAMB's own away") {
  made_up a{{.rule = adam{}, .weight_decay = 0.01f}}, b{adamw{.weight_decay = 0.01f}};
  made_up c{lamb{}}, d{{.rule = lamb{.weight_decay = 0.1f}, .groups = {{.prefix = "a/", .weight_decay = 0.0f}, {.prefix = "b/", .weight_decay = 0.0f}}}};
  for (int64_t step = 0; step < 3; ++step)
    for (auto* m : {&a, &b, &c, &d}) {
      m->draw(step, 1);
      m->apply(step);
    }
  CHECK(a.same_as(b));
  CHECK(c.same_as(d));
}

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

TEST_CASE("variables of a group with a rule have the bits and slots of that rule alone, and the others those of the optimizer's own") {
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
  CHECK(both.layout.runs().size() == 3);  // float32 under both rules, float64 under one.
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
      CHECK(m.moved(names[i], before[i]) == doctest::Approx(rates[i] * std::pow(0.5, step) * m.gradient_norm(names[i])).epsilon(1e-4));
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
  CHECK(refused({.groups = {{.prefix = "dens/", .rate_factor = 2}}}) == "optimizer: no trainable variable belongs to the group \"dens/*\"");
  CHECK(refused({.groups = {{.suffix = "mean", .rate_factor = 2}}}) == "optimizer: no trainable variable belongs to the group \"*mean\"");
  CHECK(refused({.groups = {{.prefix = "dense/", .frozen = true}}}) == "optimizer: every trainable variable is frozen");
}

TEST_CASE("weight decay that a variable has from one group is refused where FTRL is its rule by another, in any order, and nowhere else") {
  const auto refused = [](const optimizer& o) {
    graph g;
    for (const char* name : {"deep/kernel", "deep/bias", "wide/kernel", "wide/bias"})
      g.variable({.name = name, .dims = {2}});
    const auto layout = parameter_layout::of(g, o);
    return layout ? std::string{} : layout.error().message;
  };
  const std::string of_kernel = "optimizer: weight_decay, 0.1 for 'wide/kernel', means nothing to ftrl, whose variables are made anew at each step; it has l2 "
                                "and l2_shrinkage";
  const variable_group decaying{.suffix = "kernel", .weight_decay = 0.1f}, plain{.suffix = "kernel", .weight_decay = 0.0f};
  const variable_group wide{.prefix = "wide/", .rule = ftrl{}}, deep{.prefix = "deep/", .rule = adam{}};
  CHECK(refused({.groups = {decaying, wide}}) == of_kernel);
  CHECK(refused({.rule = ftrl{}, .groups = {decaying, deep}}) == of_kernel);
  CHECK(refused({.weight_decay = 0.1f, .groups = {{.suffix = "bias", .weight_decay = 0.0f}, wide}}) == of_kernel);
  CHECK_MESSAGE(refused({.groups = {wide, decaying}}) == "", "the first group that fits gives the decay");
  CHECK(refused({.weight_decay = 0.1f, .groups = {plain, {.suffix = "wide/bias", .weight_decay = 0.0f}, wide}}) == "");
  CHECK(refused({.rule = ftrl{}, .groups = {{.prefix = "deep/", .weight_decay = 0.1f}, deep}}) == "");
  CHECK(refused({.groups = {{.prefix = "wide/", .weight_decay = 0.1f, .frozen = true}, wide}}) == "");
}

TEST_CASE("a moving average begins as its variable and follows it by the recurrence") {
  made_up m{{.rule = momentum{.rate = 0.1f}, .moving_average = 0.75f}}, without{momentum{.rate = 0.1f}};
  CHECK(m.value("b/scale/ExponentialMovingAverage") == m.value("b/scale"));
  std::vector<double> average(4100);
  for (size_t i = 0; i < average.size(); ++i)
    average[i] = m.value("b/scale").as<double>()[i];
  for (int64_t step = 0; step < 20; ++step) {
    for (auto* x : {&m, &without}) {
      x->draw(step, 1);
      x->apply(step);
    }
    for (size_t i = 0; i < average.size(); ++i)
      average[i] = 0.75 * average[i] + 0.25 * m.value("b/scale").as<double>()[i];
  }
  for (size_t i = 0; i < average.size(); ++i)
    REQUIRE(m.value("b/scale/ExponentialMovingAverage").as<double>()[i] == doctest::Approx(average[i]).epsilon(1e-12));
  for (const char* name : names)
    CHECK(m.value(name) == without.value(name));
}

TEST_CASE("a moving average that ramps forgets fast at first, and never faster than its decay") {
  made_up m{{.rule = momentum{.rate = 0.1f}, .moving_average = 0.5f, .moving_average_ramps = true}};
  double average = m.value("b/scale").as<double>()[7];
  for (int64_t step = 0; step < 20; ++step) {
    m.draw(step, 1);
    m.apply(step);
    const double t = static_cast<double>(step + 1), decay = std::min(0.5, (1 + t) / (10 + t));  // 0.5 from t = 8 on.
    average = decay * average + (1 - decay) * m.value("b/scale").as<double>()[7];
    CHECK(m.value("b/scale/ExponentialMovingAverage").as<double>()[7] == doctest::Approx(average).epsilon(1e-12));
  }
}

TEST_CASE("a trust ratio is 1 for a variable of zeros") {
  made_up m{lamb{.rate = 0.5f}};
  const std::vector<float> zeros(5, 0.0f);
  REQUIRE(m.store->assign("a/bias", tensor::of<float>({5}, std::span<const float>{zeros})));
  m.draw(1, 1);
  m.apply(0);
  // With both biases corrected, Adam's first step is the sign of the gradient.
  for (int64_t i = 0; i < 5; ++i)
    CHECK(std::abs(m.element(m.value("a/bias"), i)) == doctest::Approx(0.5).epsilon(1e-3));
}

}  // namespace troupe
