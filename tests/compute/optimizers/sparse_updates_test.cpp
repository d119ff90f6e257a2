// Variables that are only looked up: compares every rule with its recurrence row by row, and with dense updates to the
// last bit.
#include "tests/compute/optimizer_recurrences.hpp"
#include "tests/compute/optimizers/looked_up_table.hpp"
#include "tests/support/has.hpp"

#include <troupe/optimizer.hpp>

namespace troupe {

using namespace test;

namespace {

/// Rules that, as in TensorFlow 1.x, update rows that do not occur as if their gradients were zero.
bool every_row(const update_rule& rule) {
  return std::holds_alternative<adam>(rule) || std::holds_alternative<adamw>(rule)
         || std::holds_alternative<amsgrad>(rule);
}

std::vector<double> as_doubles(std::span<const double> x) { return {x.begin(), x.end()}; }
std::vector<double> as_doubles(std::span<const float> x) { return {x.begin(), x.end()}; }

/// Makes a hundred steps of a table and of one recurrence for each row (LAMB has one for all rows); returns the
/// greatest difference.
template <class T>
double worst_difference(const optimizer& o, int64_t rows, int64_t units) {
  table<T> got{rows, units, o};
  const auto start = as_doubles(got.t.value("w").template as<T>());
  const bool whole = std::holds_alternative<lamb>(o.rule);
  const int64_t width = whole ? rows * units : units;
  std::vector<recurrence> want;
  for (int64_t r = 0; r < rows * units / width; ++r) {
    want.push_back({{start.begin() + r * width, start.begin() + (r + 1) * width}});
    want.back().start(o.rule);
  }
  const auto at = [&](int64_t row, int64_t j) -> double& {
    return want[static_cast<size_t>((row * units + j) / width)].v[static_cast<size_t>((row * units + j) % width)];
  };
  double worst = 0;
  for (int t = 1; t <= 100; ++t) {
    got.step(t - 1);
    std::vector<std::vector<double>> g(want.size(), std::vector<double>(static_cast<size_t>(width)));
    for (int64_t i = 0; i < lookups; ++i)
      for (int64_t j = 0; j < units; ++j) {
        const int64_t a = got.a.template as<int32_t>()[static_cast<size_t>(i)] * units + j,
                      b = got.b.template as<int64_t>()[static_cast<size_t>(i)] * units + j;
        g[static_cast<size_t>(a / width)][static_cast<size_t>(a % width)] += static_cast<double>(
            got.x.template as<T>()[static_cast<size_t>(i * units + j)]);
        g[static_cast<size_t>(b / width)][static_cast<size_t>(b % width)] += at(b / units, j);
      }
    for (size_t r = 0; r < want.size(); ++r)
      std::visit(
          [&]<class Rule>(const Rule& rule) {
            const bool occurs = got.occurs(static_cast<int64_t>(r));
            if constexpr (std::is_same_v<Rule, adamw>) {
              if (!occurs)
                return want[r].update(adam{rule.rate, rule.beta1, rule.beta2, rule.epsilon}, t,
                                      static_cast<double>(rule.rate), g[r]);
            }
            if (whole || occurs || every_row(o.rule))
              want[r].update(rule, t, static_cast<double>(rule.rate), g[r]);
          },
          o.rule);
    const auto w = as_doubles(got.t.value("w").template as<T>());
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t j = 0; j < units; ++j)
        worst = std::max(worst, std::abs(w[static_cast<size_t>(row * units + j)] - at(row, j))
                                    / std::max(1.0, std::abs(at(row, j))));
  }
  return worst;
}

}  // namespace

TEST_CASE("a hundred sparse updates of each optimizer follow its recurrence, for rows of any width") {
  for (const optimizer& o : all_rules())
    for (int64_t units : {1, 5, 16, 37}) {
      CAPTURE(to_text(o));
      CAPTURE(units);
      CHECK(worst_difference<double>(o, 40, units) < 1e-12);
      CHECK(worst_difference<float>(o, 40, units) < 5e-5);
    }
}

TEST_CASE("rows that never occur keep their values and slots, unless the rule goes on with every row") {
  for (const optimizer& o : all_rules()) {
    CAPTURE(to_text(o));
    if (every_row(o.rule) || std::holds_alternative<lamb>(o.rule))
      continue;
    table<float> m{40, 5, o};
    std::vector<tensor> before;
    for (size_t i = 0; i < m.t.layout.entries().size(); ++i) {
      const tensor now = m.t.store->view(0, static_cast<int32_t>(i));
      before.push_back(tensor::copy_of(now.type(), now.dims(), now.bytes()));
    }
    for (int64_t step = 0; step < 20; ++step)
      m.step(step);
    for (size_t i = 0; i < before.size(); ++i) {
      const tensor now = m.t.store->view(0, static_cast<int32_t>(i));
      CHECK(std::memcmp(now.as<float>().data() + 27 * 5, before[i].as<float>().data() + 27 * 5, 13 * 5 * sizeof(float))
            == 0);
    }
    CHECK_FALSE(m.t.value("w") == before[0]);
  }
}

TEST_CASE("one, two, three, four and seven slices of a sparse update have the same bits, wherever they cut a row") {
  for (const optimizer& rule : all_rules())
    for (optimizer o : {rule, optimizer{.rule = rule.rule,
                              .clip = {.value = 0.5f, .norm = 1, .global_norm = 0.7f},
                              .weight_decay = 0.01f,
                              .moving_average = 0.9f}}) {
      if (std::holds_alternative<adamw>(o.rule) || std::holds_alternative<lamb>(o.rule)
          || std::holds_alternative<ftrl>(o.rule))
        o.weight_decay = 0;  // These rules refuse weight decay.
      for (int replicas : {2, 3, 4, 7}) {
        CAPTURE(to_text(o));
        CAPTURE(replicas);
        table<float> whole{40, 5, o}, sliced{40, 5, o};
        for (int64_t step = 0; step < 4; ++step) {
          whole.step(step);
          sliced.step(step, replicas);
        }
        CHECK(whole.same_as(sliced));
      }
    }
}

TEST_CASE("sparse updates into a spare arena leave in it what updates in place do") {
  for (const optimizer& rule : all_rules())
    for (const float average : {0.0f, 0.9f}) {
      const optimizer o{.rule = rule.rule, .moving_average = average};
      CAPTURE(to_text(o));
      table<double> in_place{40, 5, o}, spare{40, 5, o, reads::twice, 2};
      for (int64_t step = 0; step < 6; ++step) {
        in_place.step(step);
        spare.step(step, 3, static_cast<int>(step % 2), static_cast<int>((step + 1) % 2));
      }
      CHECK(in_place.same_as(spare));
    }
}

TEST_CASE("a sparse gradient has the norms of the dense one, to the last bit") {
  for (const clipping& clip :
       {clipping{.norm = 0.01f}, clipping{.global_norm = 0.01f}, clipping{.value = 0.002f, .global_norm = 0.01f}}) {
    // With gradient descent, a row whose gradient is zero stays, so that both ways must give the same result.
    const optimizer o{.rule = gradient_descent{.rate = 0.1f}, .clip = clip};
    table<float> sparse{3000, 7, o, reads::once}, dense{3000, 7, o, reads::once_densely},
        free{3000, 7, gradient_descent{.rate = 0.1f}, reads::once};
    for (int64_t step = 0; step < 5; ++step)
      for (auto* m : {&sparse, &dense, &free})
        m->step(step);
    CHECK(sparse.same_as(dense));
    CHECK_FALSE(sparse.same_as(free));
  }
}

TEST_CASE("Adam's sparse update is its dense one, to the last bit") {
  for (const optimizer& o : {optimizer{adam{}}, optimizer{amsgrad{}},
                             optimizer{.rule = adam{}, .clip = {.global_norm = 0.1f}, .moving_average = 0.9f}}) {
    table<float> sparse{40, 5, o, reads::once}, dense{40, 5, o, reads::once_densely};
    for (int64_t step = 0; step < 20; ++step) {
      sparse.step(step);
      dense.step(step);
    }
    CHECK(sparse.same_as(dense));
  }
}

TEST_CASE("weight decay reaches the rows that occur, and moving averages go on for all") {
  table<double> m{40, 5, {.rule = gradient_descent{.rate = 1e-30f}, .weight_decay = 0.5f}};
  const tensor start = noise<double>({40, 5}, 1);
  m.step(0);
  for (int64_t row = 0; row < 40; ++row)
    for (int64_t j = 0; j < 5; ++j)
      CHECK(m.t.value("w").as<double>()[static_cast<size_t>(row * 5 + j)]
            == start.as<double>()[static_cast<size_t>(row * 5 + j)] * (m.occurs(row) ? 0.5 : 1));

  table<double> averaged{40, 5, {.rule = momentum{.rate = 0.1f}, .moving_average = 0.75f}};
  REQUIRE(averaged.t.store->assign("w/ExponentialMovingAverage", noise<double>({40, 5}, 2)));
  const tensor first = noise<double>({40, 5}, 2);
  auto want = as_doubles(first.as<double>());
  for (int64_t step = 0; step < 10; ++step) {
    averaged.step(step);
    for (size_t i = 0; i < want.size(); ++i)
      want[i] = 0.75 * want[i] + 0.25 * averaged.t.value("w").as<double>()[i];
  }
  for (size_t i = 0; i < want.size(); ++i)
    CHECK(averaged.t.value("w/ExponentialMovingAverage").as<double>()[i] == doctest::Approx(want[i]).epsilon(1e-12));
}

TEST_CASE("a step with an index outside of the table is refused, and the next is as if it had not been") {
  table<float> m{40, 5, momentum{}}, other{40, 5, momentum{}};
  REQUIRE(m.gradients(0) == step_status::ok);
  const std::vector<int32_t> outside(lookups, 40);
  const tensor wrong = tensor::of<int32_t>({3, lookups / 3}, std::span<const int32_t>{outside});
  CHECK(m.t.run->gradients(m.t.input({m.x.data(), wrong.data(), m.b.data()}, 1), m.t.gradient.get())
        == step_status::bad_input);
  CHECK(has(m.t.run->last_error().message, "index 40 at position 0 is outside [0, 40)"));
  REQUIRE(m.gradients(2) == step_status::ok);
  REQUIRE(other.gradients(2) == step_status::ok);
  CHECK(std::memcmp(m.t.gradient.get(), other.t.gradient.get(), static_cast<size_t>(m.t.layout.gradient_bytes())) == 0);
}

TEST_CASE("a table under the rule of a group has the bits of an optimizer of that rule, row by row") {
  for (const update_rule& rule : {update_rule{momentum{.rate = 0.1f}}, update_rule{adagrad{}}, update_rule{adam{}}}) {
    table<float> alone{40, 3, {.rule = rule}},
        grouped{40, 3, {.rule = adadelta{}, .groups = {{.prefix = "w", .rule = rule}}}};
    for (int64_t step = 0; step < 5; ++step) {
      alone.step(step);
      grouped.step(step, 2);
    }
    CHECK(alone.same_as(grouped));
  }
}

}  // namespace troupe
