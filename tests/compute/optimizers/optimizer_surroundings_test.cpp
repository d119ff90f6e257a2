// The parts of an update around its rule: clipping, weight decay and averages (groups: variable_groups_test.cpp). Every
// division into slices must give the same bits.
#include "compute/program/planned_update.hpp"
#include "tests/compute/optimizers/made_up_variables.hpp"

namespace troupe {

using namespace test;

TEST_CASE("one, two, three, four and seven slices of an update have the same bits, whatever needs a norm") {
  for (const optimizer& o :
       {optimizer{.rule = adam{}, .clip = {.norm = 0.5f}},
        optimizer{.rule = momentum{}, .clip = {.value = 0.3f, .norm = 3, .global_norm = 0.7f}},
        optimizer{.rule = lamb{.weight_decay = 0.01f}, .clip = {.global_norm = 1}, .moving_average = 0.9f},
        optimizer{.rule = adamw{},
        .schedule = cosine_decay{.decay_steps = 9},
        .groups = {{.prefix = "a/", .rate_factor = 0.5f}}},
        optimizer{.rule = rmsprop{.centered = true}, .weight_decay = 0.01f, .moving_average = 0.9f},
        optimizer{.rule = adagrad{}, .groups = {{.prefix = "a/", .rule = lamb{}}}},
        optimizer{.rule = ftrl{.l1 = 0.01f},
        .clip = {.global_norm = 1},
        .groups = {{.suffix = "/kernel", .rule = amsgrad{}}, {.prefix = "b/", .rule = gradient_descent{}}},
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
             || std::any_of(std::begin(names), std::end(names),
                            [&](const char* n) { return whole.entry(n).gradient_offset == first; })));
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
    CHECK(m.element(m.value("b/kernel"), i)
          == static_cast<double>(before.as<float>()[static_cast<size_t>(i)] - std::clamp(g[i], -0.25f, 0.25f)));
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
  for (const update_rule& rule : {update_rule{gradient_descent{}}, update_rule{momentum{}}, update_rule{adam{}},
                                  update_rule{ftrl{}}, update_rule{lamb{}}}) {
    made_up bare{{.rule = rule}},
        wide{{.rule = rule, .clip = {.value = 1e6f, .norm = 1e6f, .global_norm = 1e6f}, .groups = {{.prefix = "a/"}}}};
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
  made_up c{lamb{}}, d{{.rule = lamb{.weight_decay = 0.1f},
                        .groups = {{.prefix = "a/", .weight_decay = 0.0f}, {.prefix = "b/", .weight_decay = 0.0f}}}};
  for (int64_t step = 0; step < 3; ++step)
    for (auto* m : {&a, &b, &c, &d}) {
      m->draw(step, 1);
      m->apply(step);
    }
  CHECK(a.same_as(b));
  CHECK(c.same_as(d));
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
