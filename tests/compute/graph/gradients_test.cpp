// Checks every gradient rule of the registry against central differences in float64: the gradient, and the gradient of
// it.
#include "compute/graph/operation.hpp"
#include "tests/compute/gradient_checks.hpp"
#include "tests/support/has.hpp"

namespace troupe {

using namespace test;

namespace {

using list = const std::vector<symbol>&;

}  // namespace

TEST_CASE("every operation has a gradient that central differences confirm, or says that it has none") {
  for (const operation* op : operations()) {
    CAPTURE(op->name);
    if (!op->gradient) {
      CHECK_MESSAGE(!op->no_gradient.empty(), "neither a gradient nor a reason");
      CHECK_FALSE(gradient_checks().contains(op->name));
      continue;
    }
    if (op == &ops::stop_gradient)
      continue;  // Deliberately not the derivative; tested below.
    REQUIRE_MESSAGE(gradient_checks().contains(op->name), "no check is written for it");
    for (const auto& c : gradient_checks().at(op->name))
      if (op != &ops::cast)
        check_gradient(c, false);
  }
}

TEST_CASE("gradients can be differentiated again") {
  for (const auto& [name, all] : gradient_checks())
    for (const auto& c : all)
      if (c.second) {
        CAPTURE(name);
        check_gradient(c, true);
      }
}

TEST_CASE("a cast between floating types passes the gradient on") {
  const check c = gradient_checks().at("cast")[0];
  const function f{c, false};
  const auto got = f.gradients_at(f.start);
  const auto w = noise<double>({2}, 11);
  for (size_t i = 0; i < 2; ++i)
    CHECK(got[0].as<double>()[i] == doctest::Approx(w.as<double>()[i]).epsilon(1e-6));
}

TEST_CASE("stop_gradient lets no gradient through") {
  const check c{{{2}, {2}}, [](graph&, list x) { return mul(stop_gradient(x[0]), x[1]); }};
  const function f{c, false};
  const auto got = f.gradients_at(f.start);
  CHECK(got[0] == tensor::of<double>({2}, {0, 0}));
  CHECK(got[1].as<double>()[0] != 0);
}

TEST_CASE("the gradient of a maximum is shared among those that are equal") {
  const tensor at = tensor::of<double>({4}, {2, 5, 5, 1});
  const check c{{{4}}, [](graph&, list x) { return reduce_max(x[0], {{0}, true}); }};
  const auto all = function{c, false}.gradients_at({at});
  const auto got = all[0].as<double>();
  CHECK(got[1] == got[2]);
  CHECK(got[1] + got[2] == doctest::Approx(noise<double>({1}, 11).as<double>()[0]));
  CHECK(got[0] == 0);
}

TEST_CASE("the gradient of a product is right with zeros among its factors") {
  const check c{{{4}}, [](graph&, list x) { return reduce_prod(x[0]); }};
  const double w = noise<double>({}, 11).as<double>()[0];
  const auto at = [&](std::initializer_list<double> x) {
    return function{c, false}.gradients_at({tensor::of<double>({4}, x)})[0];
  };
  CHECK(at({2, 0, 3, 5}) == tensor::of<double>({4}, {0, 30 * w, 0, 0}));
  CHECK(at({2, 0, 0, 5}) == tensor::of<double>({4}, {0, 0, 0, 0}));
}

TEST_CASE("a power has no gradient for its exponent where the base is not above 0, also where it is not finite") {
  const check c{{{4}, {4}}, [](graph&, list x) { return pow(x[0], x[1]); }};
  const auto at = function{c, false}.gradients_at(
      {tensor::of<double>({4}, {0, -2, -1, 2}), tensor::of<double>({4}, {-1, 0.5, 2, 3})});
  const auto weights = noise<double>({4}, 11);
  const auto got = at[1].as<double>(), w = weights.as<double>();
  CHECK((got[0] == 0 && got[1] == 0 && got[2] == 0));
  CHECK(got[3] == doctest::Approx(8 * std::log(2.0) * w[3]));
}

TEST_CASE("slices that touch, overlap, repeat or leave gaps add their gradients where they were cut from") {
  const auto cut = [](std::vector<std::pair<int64_t, int64_t>> at) {
    return [at](graph&, list x) {
      symbol sum = reduce_sum(square(x[0]));
      for (size_t i = 0; i < at.size(); ++i)
        sum = add(
            sum,
            scale(reduce_sum(pow(slice(x[0], 1, at[i].first, at[i].second), slice(x[1], 1, at[i].first, at[i].second))),
                  1.0 + static_cast<double>(i)));
      return sum;
    };
  };
  const std::vector<std::vector<std::pair<int64_t, int64_t>>> cuts = {
      {{0, 3}, {3, 2}, {5, 4}},          // All of the axis, in order.
      {{5, 4}, {0, 3}, {3, 2}},          // All of the axis, in another order.
      {{1, 2}, {3, 4}},                  // All but the ends.
      {{0, 2}, {4, 2}, {6, 3}},          // A gap.
      {{0, 4}, {2, 4}, {6, 3}, {6, 3}},  // Overlapping, and one twice.
      {{2, 0}, {2, 5}, {7, 0}},          // Empty slices.
  };
  for (const auto& at : cuts)
    for (const bool second : {false, true})
      check_gradient({{{2, 9}, {2, 9}}, cut(at), 0.3, 1.5}, second);
  // Slices along two axes: those along the same axis are joined.
  check_gradient({{{4, 4}},
                  [](graph&, list x) {
                    return add(mul(slice(x[0], 0, 0, 2), slice(x[0], 0, 2, 2)),
                               square(concat(split(transpose(slice(x[0], 1, 1, 2)), {1, 3}, 1), 1)));
                  }},
                 false);
}

TEST_CASE("the gradients of the parts of a split are put side by side, without zeros in between") {
  const auto kernels = [](std::vector<int64_t> extents) {
    graph g;
    const symbol x = g.variable({.name = "x", .dims = {3, 8}});
    symbol y;
    int64_t first = 0;
    for (const int64_t count : extents) {
      const symbol term = scale(reduce_sum(exp(slice(x, 1, first, count))), static_cast<double>(count));
      y = y.valid() ? add(y, term) : term;
      first += count;
    }
    model_spec spec;
    spec.mode = mode::predict;
    spec.predictions["dx"] = gradients(y, std::vector{x})[0];
    const auto p = program::make(g, spec, *parameter_layout::of(g, std::nullopt), {});
    REQUIRE_MESSAGE(p, (p ? "" : to_text(p.error())));
    return (*p)->to_text();
  };
  for (const auto& text : {kernels({2, 5, 1}), kernels({1, 1, 1, 1, 1, 1, 1, 1})}) {
    CHECK(has(text, "concat"));
    CHECK_MESSAGE(!has(text, "pad"), text);
  }
  CHECK(has(kernels({2, 5}), "pad"));  // The last column's gradient is zero, so the rest is padded.
}

TEST_CASE("the gradient of a matrix that many steps multiply with is one product") {
  const auto products = [](int steps, bool alike) {
    const check c{
        {{3, 2}, {1, 2}, {2, 2}}, [=](graph&, list x) {
          std::vector<symbol> all;
          symbol h = x[0], other = x[1];
          for (int step = 0; step < steps; ++step)
            all.push_back(alike || step % 2 == 0 ? h = tanh(matmul(h, x[2])) : other = tanh(matmul(other, x[2])));
          return concat(all, 0);
        }};
    check_gradient(c, false);
    check_gradient(c, true);
    const std::string text = "\n" + function{c, false}.p->to_text();
    int count = 0;
    for (size_t at = text.find("\nmatmul TN"); at != std::string::npos; at = text.find("\nmatmul TN", at + 1))
      ++count;
    return count;
  };
  CHECK(products(6, true) == 1);
  CHECK(products(3, true) == 3);   // Two additions are cheaper than copies.
  CHECK(products(6, false) == 6);  // Two chains, each with three products.
}

TEST_CASE("gradients refuse what has none, and name it") {
  graph g;
  const symbol x = g.variable({.name = "x", .dims = {3}});
  SUBCASE("y of many numbers") {
    gradients(x, std::vector{x});
    REQUIRE_FALSE(g.status());
    CHECK(has(g.status().error().message, "y must be one floating number, not float32 [3]"));
  }
  SUBCASE("an operation without a gradient on the way") {
    gradients(reduce_sum(cast(equal(x, x), dtype::float32)), std::vector{x});
    REQUIRE_FALSE(g.status());
    CHECK(has(g.status().error().message, "no gradient"));
  }
  SUBCASE("what y does not depend on gets zeros") {
    const symbol z = g.variable({.name = "z", .dims = {2}});
    const auto d = gradients(reduce_sum(x), std::vector{x, z});
    CHECK(g.status());
    CHECK(d[1].dims() == symbol_shape{2});
  }
}

}  // namespace troupe
