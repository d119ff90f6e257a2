// Compares losses with their formulas, and checks their reductions.
#include "tests/compute/operations/values.hpp"
#include "tests/support/has.hpp"

#include <troupe/losses.hpp>

namespace troupe {

using namespace test;
using loss_reduction = losses::reduction;

namespace {

using loss_function = symbol (*)(symbol, symbol, losses::options, std::source_location);
const std::source_location here = std::source_location::current();

/// The loss of each element.
template <class F>
tensor each(F loss, const tensor& labels, const tensor& predictions) {
  return value([&](graph& g) {
    return loss(g.constant(labels), g.constant(predictions),
                losses::options{.weights = {}, .reduce = loss_reduction::none});
  });
}

}  // namespace

TEST_CASE("losses are those of their formulas") {
  const auto l = [](auto f) { return [f](symbol y, symbol p, losses::options o) { return f(y, p, o, here); }; };
  const tensor y = f64({4}, {0, 1, 1, 0.25}), x = f64({4}, {-2, 0.5, 800, -800});
  check_close(each(l(losses::sigmoid_cross_entropy), y, x), {4},
              {std::log1p(std::exp(-2.0)), std::log1p(std::exp(-0.5)), 0, 200}, 1e-14);
  check_close(each(l(losses::squared), y, x), {4}, {4, 0.25, 799.0 * 799, 800.25 * 800.25}, 1e-14);
  check_close(each(l(losses::absolute), y, x), {4}, {2, 0.5, 799, 800.25}, 1e-14);
  check_close(each([](symbol a, symbol b, losses::options o) { return losses::huber(a, b, 0.75, o); }, y, x), {4},
              {0.75 * 2 - 0.75 * 0.75 / 2, 0.125, 0.75 * 799 - 0.75 * 0.75 / 2, 0.75 * 800.25 - 0.75 * 0.75 / 2},
              1e-14);
  check_close(each(l(losses::hinge), f64({4}, {0, 1, 1, 0}), f64({4}, {-2, 0.5, -1, 3})), {4}, {0, 0.5, 2, 4}, 1e-14);
  check_close(each([](symbol a, symbol b, losses::options o) { return losses::log(a, b, 1e-7, o); },
                   f64({3}, {0, 1, 0.5}), f64({3}, {0.25, 0, 0.5})),
              {3}, {-std::log(0.75 + 1e-7), -std::log(1e-7), -std::log(0.5 + 1e-7)}, 1e-14);
  const tensor p = f64({2, 2}, {0.5, 0.5, 1, 0}), q = f64({2, 2}, {0.25, 0.75, 0.5, 0.5});
  check_close(each(l(losses::kl_divergence), p, q), {2},
              {0.5 * std::log(2.0) + 0.5 * std::log(0.5 / 0.75), std::log(2.0) + 1e-7 * std::log(2e-7)}, 1e-13);
  check_close(each(l(losses::softmax_cross_entropy), p, f64({2, 2}, {0, 0, 1, 3})), {2},
              {std::log(2.0), std::log1p(std::exp(2.0))}, 1e-14);
  check_close(each(l(losses::sparse_softmax_cross_entropy), i32({2}, {1, 0}), f64({2, 2}, {0, 0, 1, 3})), {2},
              {std::log(2.0), std::log1p(std::exp(2.0))}, 1e-14);
}

TEST_CASE("sparse cross-entropy takes labels of any rank, one of an image's pixels as well") {
  const tensor logits = noise<double>({2, 3, 4, 5}, 1);
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < 24; ++i)
    classes.push_back(i * 7 % 5);
  const tensor pixels = value([&](graph& g) {
    return losses::sparse_softmax_cross_entropy(
        g.constant(tensor::of<int64_t>({2, 3, 4}, std::span<const int64_t>{classes})), g.constant(logits),
        {.weights = {}, .reduce = loss_reduction::none});
  });
  CHECK(pixels.dims() == shape{2, 3, 4});
  const tensor rows = value([&](graph& g) { return log_softmax(g.constant(logits)); });
  for (size_t i = 0; i < 24; ++i)
    CHECK(pixels.as<double>()[i] == doctest::Approx(-rows.as<double>()[i * 5 + static_cast<size_t>(classes[i])]));
  CHECK(value([&](graph& g) {
          return losses::sparse_softmax_cross_entropy(g.constant(i32({}, {1})), g.constant(f64({2}, {0, 0})));
        }).as<double>()[0]
        == doctest::Approx(std::log(2.0)));
}

TEST_CASE_TEMPLATE(
    "cross-entropies keep the logarithm of the sum beside great logits, fused with their gradient as well", T, float,
    double) {
  const T great = sizeof(T) == 4 ? T(1e8) : T(1e17);
  const double epsilon = sizeof(T) == 4 ? 2e-7 : 1e-15;
  for (int64_t classes : {2, 5, 40, 1000}) {
    const double log_classes = std::log(static_cast<double>(classes));
    for (T x : {great, -great, T{3}}) {
      CAPTURE(x);
      const tensor logits = tensor::of<T>({2, classes},
                                          std::span<const T>{std::vector<T>(static_cast<size_t>(2 * classes), x)});
      const std::vector<double> same(static_cast<size_t>(2 * classes), -log_classes);
      check_close(value([&](graph& g) { return log_softmax(g.constant(logits)); }), {2, classes}, same, epsilon);
      const tensor labels = i32({2}, {1, 0});
      for (double smoothing : {0.0, 0.25})
        check_close(value([&](graph& g) {
                      return losses::sparse_softmax_cross_entropy(
                          g.constant(labels), g.constant(logits),
                          {.reduce = loss_reduction::none, .label_smoothing = smoothing});
                    }),
                    {2}, {log_classes, log_classes}, epsilon);
      const tensor hot = value([&](graph& g) { return one_hot(g.constant(labels), classes, logits.type()); });
      check_close(each([](symbol y, symbol p, losses::options o) { return losses::softmax_cross_entropy(y, p, o); },
                       hot, logits),
                  {2}, {log_classes, log_classes}, epsilon);
      // One kernel computes the loss and its gradient.
      const tensor both = value([&](graph& g) {
        const symbol v = g.constant(logits),
                     loss = reduce_sum(troupe::sparse_softmax_cross_entropy(g.constant(labels), v));
        return concat({reshape(loss, {1}), reshape(gradients(loss, std::vector{v})[0], {2 * classes})});
      });
      CHECK(numbers(both)[0] == doctest::Approx(2 * log_classes).epsilon(epsilon));
      CHECK(numbers(both)[1] == doctest::Approx(1 / static_cast<double>(classes)).epsilon(epsilon));
    }
  }
}

TEST_CASE("sigmoid cross-entropy and its gradient keep what is small beside the logit") {
  const tensor x = f32({6}, {15, -15, 20, 40, 0, 1e8f}), y = f32({6}, {1, 0, 1, 1, 0.25f, 1});
  std::vector<double> loss, slope;
  for (size_t i = 0; i < 6; ++i) {
    const double v = static_cast<double>(x.as<float>()[i]), z = static_cast<double>(y.as<float>()[i]);
    loss.push_back(std::max(v, 0.0) - v * z + std::log1p(std::exp(-std::abs(v))));
    slope.push_back((v < 0 ? std::exp(v) / (1 + std::exp(v)) : (1 - z) - std::exp(-v) / (1 + std::exp(-v)))
                    - (v < 0 ? z : 0));
  }
  const auto close = [](const tensor& got, const std::vector<double>& want) {
    for (size_t i = 0; i < want.size(); ++i)
      CHECK_MESSAGE(std::abs(numbers(got)[i] - want[i]) <= 1e-6 * std::abs(want[i]), i, ": ", numbers(got)[i], " for ",
                    want[i]);
  };
  const auto of = [&](graph& g, symbol v) {
    return losses::sigmoid_cross_entropy(g.constant(y), v, {.reduce = loss_reduction::none});
  };
  close(value([&](graph& g) { return of(g, g.constant(x)); }), loss);
  close(value([&](graph& g) {
          const symbol v = g.constant(x);
          return gradients(reduce_sum(of(g, v)), std::vector{v})[0];
        }),
        slope);
}

TEST_CASE("reductions count what they say, and a loss of no weight is 0") {
  const tensor l = f64({2, 3}, {1, 2, 3, 4, 5, 6}), w = f64({2, 1}, {0, 0.5}), none = f64({}, {0});
  const auto of = [&](const std::optional<tensor>& weights, loss_reduction r) {
    return value([&](graph& g) {
      return losses::reduce(g.constant(l), {.weights = weights ? g.constant(*weights) : symbol{}, .reduce = r});
    });
  };
  check_close(of({}, loss_reduction::none), {2, 3}, {1, 2, 3, 4, 5, 6});
  check_close(of({}, loss_reduction::sum), {}, {21});
  check_close(of({}, loss_reduction::mean), {}, {3.5});
  check_close(of({}, loss_reduction::mean_nonzero), {}, {3.5});
  check_close(of(w, loss_reduction::none), {2, 3}, {0, 0, 0, 2, 2.5, 3});
  check_close(of(w, loss_reduction::sum), {}, {7.5});
  check_close(of(w, loss_reduction::mean), {}, {5});
  check_close(of(w, loss_reduction::mean_nonzero), {}, {2.5});
  check_close(of({}, loss_reduction::sum_over_batch_size), {}, {3.5});
  check_close(of(w, loss_reduction::sum_over_batch_size), {}, {1.25});
  check_close(of(none, loss_reduction::sum_over_batch_size), {}, {0});
  check_close(of(none, loss_reduction::mean), {}, {0});
  check_close(of(none, loss_reduction::mean_nonzero), {}, {0});
}

TEST_CASE("smoothed labels are those of all classes in part, in all cross-entropies alike") {
  const double s = 0.3;
  const tensor x = f64({2, 3}, {0, 1, 3, -1, 2, 0.5}), y = f64({2, 3}, {0, 1, 0, 0.5, 0.25, 0.25}),
               chosen = i32({2}, {1, 2});
  const auto log_softmax_of = [&](size_t row, size_t j) {
    const double* r = x.as<double>().data() + row * 3;
    return r[j] - std::log(std::exp(r[0]) + std::exp(r[1]) + std::exp(r[2]));
  };
  std::vector<double> dense, sparse, apart;
  for (size_t row = 0; row < 2; ++row) {
    double of_dense = 0, of_sparse = 0;
    for (size_t j = 0; j < 3; ++j) {
      of_dense -= ((1 - s) * y.as<double>()[row * 3 + j] + s / 3) * log_softmax_of(row, j);
      of_sparse -= ((1 - s) * (static_cast<size_t>(chosen.as<int32_t>()[row]) == j) + s / 3) * log_softmax_of(row, j);
      const double logit = x.as<double>()[row * 3 + j], label = (1 - s) * y.as<double>()[row * 3 + j] + s / 2;
      apart.push_back(std::log1p(std::exp(logit)) - logit * label);
    }
    dense.push_back(of_dense);
    sparse.push_back(of_sparse);
  }
  const losses::options smooth{.reduce = loss_reduction::none, .label_smoothing = s};
  check_close(value([&](graph& g) { return losses::softmax_cross_entropy(g.constant(y), g.constant(x), smooth); }), {2},
              dense, 1e-14);
  check_close(
      value([&](graph& g) { return losses::sparse_softmax_cross_entropy(g.constant(chosen), g.constant(x), smooth); }),
      {2}, sparse, 1e-14);
  check_close(value([&](graph& g) { return losses::sigmoid_cross_entropy(g.constant(y), g.constant(x), smooth); }),
              {2, 3}, apart, 1e-14);
  check_close(value([&](graph& g) {
                return losses::sparse_softmax_cross_entropy(reshape(g.constant(chosen), {extent{1}, extent{2}}),
                                                            reshape(g.constant(x), {extent{1}, extent{2}, extent{3}}),
                                                            smooth);
              }),
              {1, 2}, sparse, 1e-14);
  CHECK(has(refusal([&](graph& g) {
              return losses::softmax_cross_entropy(g.constant(y), g.constant(x), {.label_smoothing = 1.5});
            }),
            "softmax_cross_entropy: label_smoothing must be in [0, 1], not 1.5"));
  CHECK(refusal([&](graph& g) {
          return losses::squared(g.constant(y), g.constant(x), {.label_smoothing = 0.1});
        }).find("label_smoothing is for")
        != std::string::npos);
}

TEST_CASE("a loss may be differentiated for its predictions and its weights") {
  graph g;
  const symbol y = g.constant(f64({3}, {0, 1, 1})), x = g.variable({.name = "x", .dims = {3}, .type = dtype::float64}),
               w = g.variable({.name = "w", .dims = {3}, .type = dtype::float64});
  for (auto r :
       {loss_reduction::sum, loss_reduction::mean, loss_reduction::mean_nonzero, loss_reduction::sum_over_batch_size})
    CHECK(gradients(losses::sigmoid_cross_entropy(y, x, {.weights = w, .reduce = r}), std::vector{x, w})[1].valid());
  CHECK(g.status());
}

TEST_CASE("operands that do not fit are errors with both shapes") {
  const tensor a = f64({2}, {1, 2}), b = f64({3}, {1, 2, 3});
  for (loss_function f : {loss_function{losses::softmax_cross_entropy}, loss_function{losses::sigmoid_cross_entropy},
                          loss_function{losses::squared}, loss_function{losses::absolute}, loss_function{losses::hinge},
                          loss_function{losses::kl_divergence}})
    CHECK(has(refusal([&](graph& g) { return f(g.constant(a), g.constant(b), {}, here); }),
              "labels and predictions must be floating and of one shape, not float64 [2] and float64 [3]"));
  CHECK(refusal([&](graph& g) {
          return losses::squared(g.constant(a), g.constant(a), {.weights = g.constant(b)});
        }).find("does not stretch")
        != std::string::npos);
  CHECK(
      has(refusal([&](graph& g) { return losses::huber(g.constant(a), g.constant(a), 0); }), "delta must be above 0"));
}

}  // namespace troupe
