// Compares every rule with its published recurrence, and with TensorFlow's own numbers.
#include "tests/compute/model_fixture.hpp"
#include "tests/compute/optimizer_recurrences.hpp"

#include <troupe/optimizer.hpp>

#include <algorithm>

namespace troupe {

using namespace test;

namespace {

/// A variable w whose gradient at each step is c·w + x, where x is fed.
template <class T>
struct fed_gradient {
  int64_t n;
  tensor start = noise<T>({n}, 1), c = noise<T>({n}, 2);
  trainer t;

  fed_gradient(int64_t count, const optimizer& o)
    : n(count),
      t(
          [&](graph& g) {
            const symbol w = g.variable({.name = "w", .dims = {n}, .type = dtype_of<T>::value});
            const symbol x = g.placeholder("x", dtype_of<T>::value, {n});
            model_spec spec;
            spec.loss = reduce_sum(x * w) + reduce_sum(g.constant(c) * square(w)) / g.constant(tensor::scalar<T>(2));
            spec.optimizer = o;
            return spec;
          },
          {}) {
    REQUIRE(t.store->assign("w", start));
  }
  void step(int64_t step, const tensor& x) { REQUIRE(t.step({x.data()}, step) == step_status::ok); }
};

/// Makes a hundred steps whose gradients change sign and depend on the variable.
template <class T>
double worst_difference(const optimizer& o, int64_t n) {
  fed_gradient<T> model{n, o};
  const auto as_doubles = [](const tensor& x) { return std::vector<double>(x.as<T>().begin(), x.as<T>().end()); };
  recurrence want{as_doubles(model.start)};
  want.start(o.rule);
  const auto c = as_doubles(model.c);
  double worst = 0;
  for (int t = 1; t <= 100; ++t) {
    const tensor x = noise<T>({n}, static_cast<uint64_t>(100 + t));
    model.step(t - 1, x);
    std::vector<double> g(static_cast<size_t>(n));
    for (size_t i = 0; i < g.size(); ++i)
      g[i] = c[i] * want.v[i] + static_cast<double>(x.as<T>()[i]);
    std::visit([&](const auto& rule) { want.update(rule, t, static_cast<double>(rule.rate), g); }, o.rule);
    const auto got = as_doubles(model.t.value("w"));
    for (size_t i = 0; i < g.size(); ++i)
      worst = std::max(worst, std::abs(got[i] - want.v[i]) / std::max(1.0, std::abs(want.v[i])));
  }
  return worst;
}

}  // namespace

TEST_CASE("a hundred steps of each optimizer follow its recurrence in both floating types") {
  for (const optimizer& o : all_rules()) {
    CAPTURE(to_text(o));
    CHECK(worst_difference<double>(o, 37) < 1e-12);
    CHECK(worst_difference<float>(o, 37) < 5e-5);
  }
}

TEST_CASE("a norm over several chunks makes LAMB no less exact") {
  CHECK(worst_difference<double>(lamb{.rate = 0.02f, .weight_decay = 0.1f}, 9001) < 1e-12);
  CHECK(worst_difference<float>(lamb{.rate = 0.02f, .weight_decay = 0.1f}, 9001) < 2e-5);
}

TEST_CASE("FTRL gives the numbers of TensorFlow's own tests") {
  const auto after = [](const ftrl& o, std::vector<double> start, int steps) {
    trainer t(
        [&](graph& building) {
          const symbol w = building.variable({.name = "w", .dims = {4}, .type = dtype::float64});
          const std::vector<double> gradient{0.1, 0.2, 0.01, 0.02};
          model_spec spec;
          spec.loss = reduce_sum(building.constant(tensor::of<double>({4}, std::span<const double>{gradient})) * w);
          spec.optimizer = o;
          return spec;
        },
        {});
    REQUIRE(t.store->assign("w", tensor::of<double>({4}, std::span<const double>{start})));
    for (int step = 0; step < steps; ++step)
      t.step({}, step);
    const tensor w = t.value("w");
    return std::vector<double>(w.as<double>().begin(), w.as<double>().end());
  };
  const auto same = [](const std::vector<double>& got, const std::vector<double>& want) {
    for (size_t i = 0; i < want.size(); ++i)
      CHECK(got[i] == doctest::Approx(want[i]).epsilon(1e-6));
  };
  const std::vector<double> start{1, 2, 4, 3};
  same(after({.rate = 3}, {0, 0, 0, 0}, 3), {-2.60260963, -4.29698515, -0.28432083, -0.56694895});
  same(after({.rate = 3}, start, 3), {-2.55607247, -3.98729396, -0.28232238, -0.56096673});
  same(after({.rate = 3, .l1 = 0.001f}, start, 10), {-7.66718769, -10.91273689, -0.93460727, -1.86147261});
  same(after({.rate = 3, .l1 = 0.001f, .l2 = 2}, start, 10), {-0.24059935, -0.46829352, -0.02406147, -0.04830509});
  same(after({.rate = 3, .l1 = 0.001f, .l2 = 2, .l2_shrinkage = 0.1f}, start, 10),
       {-0.22578995, -0.44345796, -0.14378493, -0.13229476});
}

TEST_CASE("an l1 that no gradient exceeds keeps every variable of FTRL at 0") {
  fed_gradient<float> model{37, ftrl{.rate = 0.5f, .l1 = 1000}};
  for (int64_t step = 0; step < 10; ++step)
    model.step(step, noise<float>({37}, static_cast<uint64_t>(step)));
  const tensor w = model.t.value("w");
  for (float v : w.as<float>())
    CHECK(v == 0);
}

TEST_CASE(
    "an l1 of proximal gradient descent makes small variables 0, and without one it is gradient descent, bit by bit") {
  fed_gradient<float> sparse{37, proximal_gradient_descent{.rate = 0.5f, .l1 = 1000}},
      plain{37, proximal_gradient_descent{.rate = 0.5f}}, descent{37, gradient_descent{.rate = 0.5f}};
  for (int64_t step = 0; step < 10; ++step)
    for (auto* m : {&sparse, &plain, &descent})
      m->step(step, noise<float>({37}, static_cast<uint64_t>(step)));
  for (float v : sparse.t.value("w").as<float>())
    CHECK(v == 0);
  CHECK(plain.t.value("w") == descent.t.value("w"));
}

TEST_CASE("slots have TensorFlow's names and begin with its values") {
  const auto slots = [](const optimizer& o) {
    graph g;
    g.variable({.name = "w", .dims = {3}, .initial = init::constant(7)});
    auto store = *parameter_store::create(*parameter_layout::of(g, o), 1);
    store->initialise(1);
    std::string all;
    for (size_t i = 1; i < store->layout().entries().size(); ++i) {
      const tensor value = store->view(0, static_cast<int32_t>(i));
      char text[80];
      std::snprintf(text, sizeof text, "%s%s %g", i > 1 ? ", " : "", store->layout().entries()[i].name.c_str(),
                    static_cast<double>(value.as<float>()[2]));
      all += text;
    }
    return all;
  };
  CHECK(slots(gradient_descent{}) == "");
  CHECK(slots(proximal_gradient_descent{}) == "");
  CHECK(slots(momentum{}) == "w/Momentum 0");
  CHECK(slots(adagrad{}) == "w/Adagrad 0.1");
  CHECK(slots(rmsprop{}) == "w/RMSProp 1, w/RMSProp_1 0");
  CHECK(slots(rmsprop{.centered = true}) == "w/RMSProp 1, w/RMSProp_1 0, w/RMSProp_2 0");
  CHECK(slots(adadelta{}) == "w/Adadelta 0, w/Adadelta_1 0");
  CHECK(slots(adam{}) == "w/Adam 0, w/Adam_1 0");
  CHECK(slots(adamw{}) == "w/Adam 0, w/Adam_1 0");
  CHECK(slots(adamax{}) == "w/AdaMax 0, w/AdaMax_1 0");
  CHECK(slots(amsgrad{}) == "w/AMSGrad 0, w/AMSGrad_1 0, w/AMSGrad_2 0");
  CHECK(slots(ftrl{.initial_accumulator = 0.5f}) == "w/Ftrl 0.5, w/Ftrl_1 0");
  CHECK(slots(lamb{}) == "w/LAMB 0, w/LAMB_1 0");
  CHECK(slots(optimizer{.rule = momentum{}, .moving_average = 0.9f}) == "w/Momentum 0, w/ExponentialMovingAverage 7");
}

TEST_CASE("an element's update does not depend on where it stands, and padding stays finite") {
  for (const optimizer& o : all_rules()) {
    CAPTURE(to_text(o));
    fed_gradient<float> model{37, o};
    const std::vector<float> ones(37, 1.0f);
    const tensor same = tensor::of<float>({37}, std::span<const float>{ones});
    REQUIRE(model.t.store->assign("w", same));
    for (int64_t step = 0; step < 3; ++step) {
      auto* g = reinterpret_cast<float*>(model.t.gradient.get());
      std::fill_n(g, 37, 0.3f);
      std::fill_n(g + 37, 11, 0.0f);
      model.t.run->apply(step, model.t.whole(), model.t.gradient.get(), model.t.store->arena(0),
                         model.t.store->arena(0));
    }
    const tensor w = model.t.value("w");
    for (float v : w.as<float>())
      CHECK(v == w.as<float>()[0]);
    CHECK(w.as<float>()[0] < 1);
    const auto& entry = model.t.layout.entries()[static_cast<size_t>(model.t.layout.find("w"))];
    const auto* padded = reinterpret_cast<const float*>(model.t.store->arena(0) + entry.offset);
    CHECK(std::all_of(padded, padded + 48, [](float v) { return std::isfinite(v); }));
  }
}

}  // namespace troupe
