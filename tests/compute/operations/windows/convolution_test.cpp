#include "compute/graph/operation.hpp"
#include "tests/compute/planned.hpp"
#include "tests/support/has.hpp"

namespace troupe {

using namespace test;

namespace {

struct conv_case {
  shape x, kernel;
  conv2d_options o;
};

const std::vector<conv_case>& cases() {
  static const std::vector<conv_case> all = {
      {{2, 5, 6, 3}, {3, 3, 3, 4}, {}},
      {{1, 7, 7, 1}, {5, 5, 1, 20}, {.padding = padding::valid}},
      {{2, 8, 5, 4}, {3, 2, 4, 3}, {.strides = {2, 3}}},
      {{2, 9, 9, 2}, {3, 3, 2, 5}, {.strides = {2, 2}, .padding = padding::valid}},
      {{1, 9, 8, 2}, {3, 3, 2, 2}, {.dilation = {2, 3}}},
      {{1, 9, 9, 3}, {2, 3, 3, 2}, {.strides = {2, 1}, .dilation = {3, 2}, .padding = padding::valid}},
      {{2, 4, 4, 6}, {3, 3, 2, 9}, {.groups = 3}},
      {{2, 4, 4, 6}, {1, 1, 6, 5}, {}},
      {{2, 5, 4, 6}, {1, 1, 6, 5}, {.strides = {2, 2}}},
      {{2, 6, 7, 5}, {3, 3, 1, 5}, {.strides = {2, 1}, .groups = 5}},
      {{2, 6, 5, 3}, {3, 2, 1, 6}, {.dilation = {1, 2}, .groups = 3}},
      {{1, 1, 1, 1}, {1, 1, 1, 1}, {}},
      {{1, 2, 2, 2}, {5, 5, 2, 3}, {}},
      {{3, 20, 17, 33}, {3, 3, 33, 40}, {}},  // More than one block of rows and of depth.
      {{0, 4, 4, 2}, {3, 3, 2, 2}, {}},
  };
  return all;
}

/// The sum that the header defines, with every index written out.
std::vector<double> by_hand(const conv_case& c, const tensor& x, const tensor& k, const shape& y) {
  const auto pad = [&](int axis, int64_t size) {
    const auto i = static_cast<size_t>(axis - 1);
    const int64_t reach = (size - 1) * c.o.dilation[i] + 1;
    return c.o.padding == padding::valid ? 0
                                         : std::max<int64_t>(0, (y[axis] - 1) * c.o.strides[i] + reach - c.x[axis]) / 2;
  };
  const int64_t top = pad(1, c.kernel[0]), left = pad(2, c.kernel[1]), per = c.kernel[3] / c.o.groups;
  std::vector<double> want;
  for (int64_t b = 0; b < y[0]; ++b)
    for (int64_t i = 0; i < y[1]; ++i)
      for (int64_t j = 0; j < y[2]; ++j)
        for (int64_t o = 0; o < y[3]; ++o) {
          double sum = 0;
          for (int64_t di = 0; di < c.kernel[0]; ++di)
            for (int64_t dj = 0; dj < c.kernel[1]; ++dj)
              for (int64_t ch = 0; ch < c.kernel[2]; ++ch) {
                const int64_t r = i * c.o.strides[0] + di * c.o.dilation[0] - top,
                              q = j * c.o.strides[1] + dj * c.o.dilation[1] - left;
                if (r >= 0 && r < c.x[1] && q >= 0 && q < c.x[2])
                  sum += numbers(
                             x.slice(b, 1))[static_cast<size_t>((r * c.x[2] + q) * c.x[3] + o / per * c.kernel[2] + ch)]
                         * numbers(
                             k)[static_cast<size_t>(((di * c.kernel[1] + dj) * c.kernel[2] + ch) * c.kernel[3] + o)];
              }
          want.push_back(sum);
        }
  return want;
}

double dot(const tensor& a, const tensor& b) {
  double sum = 0;
  for (size_t i = 0; i < a.as<double>().size(); ++i)
    sum += a.as<double>()[i] * b.as<double>()[i];
  return sum;
}

}  // namespace

TEST_CASE(
    "a convolution is the sum over its kernel, with strides, dilation, groups and both kinds of padding, in both "
    "floating types") {
  for (const auto& c : cases()) {
    if (c.x.elements() > 20000)
      continue;  // The written-out sum would take too long; the adjoint test has it.
    CAPTURE(to_text(c.x));
    CAPTURE(to_text(c.kernel));
    const tensor x = noise<double>(c.x, 1), k = noise<double>(c.kernel, 2);
    const tensor y = value([&](graph& g) { return conv2d(g.constant(x), g.constant(k), c.o); });
    const auto want = by_hand(c, x, k, y.dims());
    check_close(y, y.dims(), want, 1e-13);
    check_close(value([&](graph& g) {
                  return conv2d(cast(g.constant(x), dtype::float32), cast(g.constant(k), dtype::float32), c.o);
                }),
                y.dims(), want, 1e-5);
  }
}

TEST_CASE("the extents of a convolution are those of TensorFlow's rules") {
  graph g;
  const extent batch = g.unknown("batch");
  const symbol x = g.placeholder("x", dtype::float32, {batch, 28, 27, 3});
  const symbol k = g.variable({.name = "k", .dims = {5, 4, 3, 8}});
  CHECK(conv2d(x, k).dims() == symbol_shape{batch, 28, 27, 8});
  CHECK(conv2d(x, k, {.padding = padding::valid}).dims() == symbol_shape{batch, 24, 24, 8});
  CHECK(conv2d(x, k, {.strides = {2, 3}}).dims() == symbol_shape{batch, 14, 9, 8});
  CHECK(conv2d(x, k, {.strides = {2, 3}, .padding = padding::valid}).dims() == symbol_shape{batch, 12, 8, 8});
  CHECK(conv2d(x, k, {.dilation = {2, 2}, .padding = padding::valid}).dims() == symbol_shape{batch, 20, 21, 8});
  CHECK(max_pool(x).dims() == symbol_shape{batch, 14, 13, 3});
  CHECK(max_pool(x, {.padding = padding::same}).dims() == symbol_shape{batch, 14, 14, 3});
  CHECK(global_average_pool(x).dims() == symbol_shape{batch, 3});
  CHECK(g.status());
}

TEST_CASE("the gradients of a convolution are its adjoints for image and kernel") {
  for (const auto& c : cases()) {
    CAPTURE(to_text(c.x));
    CAPTURE(to_text(c.kernel));
    const tensor x = noise<double>(c.x, 1), k = noise<double>(c.kernel, 2);
    const tensor y = value([&](graph& g) { return conv2d(g.constant(x), g.constant(k), c.o); });
    const tensor dy = noise<double>(y.dims(), 3);
    const auto gradient = [&](size_t which) {
      return value([&](graph& g) {
        const std::vector<symbol> operands = {g.constant(x), g.constant(k)};
        return gradients(reduce_sum(mul(conv2d(operands[0], operands[1], c.o), g.constant(dy))), operands)[which];
      });
    };
    // The convolution is linear in each operand, so operand · its gradient = y · dy.
    const double want = dot(y, dy);
    CHECK(dot(x, gradient(0)) == doctest::Approx(want).scale(1).epsilon(1e-11));
    CHECK(dot(k, gradient(1)) == doctest::Approx(want).scale(1).epsilon(1e-11));
  }
}

TEST_CASE("a transposed convolution undoes the extents of a convolution, and is its adjoint") {
  for (const auto& o : {conv2d_options{.strides = {2, 3}},
                        {.strides = {2, 2}, .padding = padding::valid},
                        {.dilation = {2, 1}},
                        {.groups = 2}}) {
    const tensor y = noise<double>({2, 3, 4, 4}, 1), k = noise<double>({3, 2, 6 / o.groups, 4}, 2);
    const tensor image = value([&](graph& g) { return conv2d_transpose(g.constant(y), g.constant(k), o); });
    CHECK(image.dims()[3] == 6);
    const tensor x = noise<double>(image.dims(), 3);
    const tensor forward = value([&](graph& g) { return conv2d(g.constant(x), g.constant(k), o); });
    REQUIRE(forward.dims() == y.dims());
    CHECK(dot(image, x) == doctest::Approx(dot(forward, y)).epsilon(1e-12));
  }
}

TEST_CASE(
    "where a kernel is smaller than its stride, a transposed convolution leaves the pixels between two kernels at 0, "
    "behind the last as well") {
  const conv2d_options o{.strides = {3, 4}, .padding = padding::valid};
  const tensor y = noise<double>({2, 3, 2, 3}, 1), k = noise<double>({2, 2, 4, 3}, 2);
  const tensor image = value([&](graph& g) { return conv2d_transpose(g.constant(y), g.constant(k), o); });
  REQUIRE(image.dims() == shape{2, 9, 8, 4});  // As in Keras: 3·3 and 2·4, not 3·3 - 1 and 2·4 - 2.
  std::vector<double> want(static_cast<size_t>(image.dims().elements()));
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 2; ++j)
        for (int64_t tap = 0; tap < 4; ++tap)
          for (int64_t f = 0; f < 4; ++f)
            for (int64_t c = 0; c < 3; ++c)
              want[static_cast<size_t>(((b * 9 + i * 3 + tap / 2) * 8 + j * 4 + tap % 2) * 4
                                       + f)] += y.as<double>()[static_cast<size_t>(((b * 3 + i) * 2 + j) * 3 + c)]
                                                * k.as<double>()[static_cast<size_t>((tap * 4 + f) * 3 + c)];
  check_close(image, image.dims(), want, 1e-13);
  const tensor dilated = value([&](graph& g) {
    return conv2d_transpose(g.constant(y), g.constant(k),
                            {.strides = {3, 2}, .dilation = {1, 3}, .padding = padding::valid});
  });
  CHECK(dilated.dims() == shape{2, 9, 6, 4});  // 2·2 + 2: the kernel's reach of 4 exceeds the stride by 2.
}

TEST_CASE("a depthwise convolution sees each channel by itself") {
  const tensor x = noise<double>({2, 4, 5, 3}, 1), k = noise<double>({3, 3, 3, 2}, 2);
  const tensor y = value([&](graph& g) { return depthwise_conv2d(g.constant(x), g.constant(k)); });
  CHECK(y.dims() == shape{2, 4, 5, 6});
  for (int64_t channel = 0; channel < 3; ++channel) {
    const tensor one = value(
        [&](graph& g) { return conv2d(slice(g.constant(x), 3, channel, 1), slice(g.constant(k), 2, channel, 1)); });
    const tensor part = value([&](graph& g) { return slice(g.constant(y), 3, channel * 2, 2); });
    check_close(part, one.dims(), numbers(one), 1e-13);
  }
}

TEST_CASE("bias and relu after a convolution are part of it, but for a depthwise one") {
  const auto layer = [](int groups, int64_t size) {
    return [=](graph& g, symbol x) {
      const symbol y = conv2d(x, g.constant(noise<float>({size, size, 6 / groups, 12}, 1)), {.groups = groups});
      return std::map<std::string, symbol>{{"whole", relu(add(y, g.constant(noise<float>({12}, 2))))}};
    };
  };
  const auto apart = [&](int groups, int64_t size) {
    return [=](graph& g, symbol x) {
      const symbol y = layer(groups, size)(g, x)["whole"];  // Only the convolution is an output, so nothing is fused
                                                            // with it.
      const symbol convolved = symbol_of(
          g, contents_of(g)
                 .nodes[static_cast<size_t>(contents_of(g).nodes[static_cast<size_t>(y.node())].inputs[0])]
                 .inputs[0]);
      return std::map<std::string, symbol>{{"alone", convolved}};
    };
  };
  for (const auto& [groups, size] : {std::pair{1, int64_t{3}}, {1, int64_t{1}}, {2, int64_t{3}}, {6, int64_t{3}}}) {
    CAPTURE(groups);
    CAPTURE(size);
    planned one{{3, 5, 4, 6}, layer(groups, size)}, other{{3, 5, 4, 6}, apart(groups, size)};
    CHECK(one.kernels("conv2d +bias +relu") == (groups < 6 ? 1 : 0));
    CHECK(other.kernels("conv2d\n") == 1);
    const auto whole = numbers(one.run()[0]), alone = numbers(other.run()[0]), bias = numbers(noise<float>({12}, 2));
    REQUIRE(whole.size() == alone.size());
    for (size_t i = 0; i < whole.size(); ++i)
      CHECK(whole[i] == doctest::Approx(std::max(0.0, alone[i] + bias[i % 12])).scale(1).epsilon(1e-6));
  }
}

TEST_CASE("the gradient of pooling what relu has left is one kernel with that of relu") {
  const build both = only(
      [](graph&, symbol x) { return gradients(reduce_sum(square(max_pool(relu(x)))), std::vector{x})[0]; });
  const build two = [](graph&, symbol x) {
    const symbol y = relu(x), dy = gradients(reduce_sum(square(max_pool(y))), std::vector{y})[0];
    return std::map<std::string, symbol>{{"dx", select(greater(x, square(scale(x, 0))), dy, square(scale(x, 0)))}};
  };
  for (const shape& dims : {shape{2, 6, 4, 37}, shape{1, 5, 7, 3}}) {
    planned fused{dims, both}, apart{dims, two};
    CHECK(fused.kernels("max_pool_gradient +relu") == 1);
    CHECK(apart.kernels("max_pool_gradient +relu") == 0);
    CHECK(fused.run() == apart.run());
  }
  // The mask is not the pooled value.
  planned other{{2, 6, 4, 37}, only([](graph&, symbol x) {
                  return gradients(reduce_sum(square(max_pool(neg(relu(x))))), std::vector{x})[0];
                })};
  CHECK(other.kernels("max_pool_gradient +relu") == 0);
}

TEST_CASE("an image has the same bits whatever images are beside it") {
  const tensor x = noise<float>({5, 9, 9, 8}, 1), k = noise<float>({3, 3, 8, 12}, 2);
  const tensor all = value([&](graph& g) { return conv2d(g.constant(x), g.constant(k)); });
  for (int64_t i : {0, 3, 4})
    CHECK(value([&](graph& g) { return conv2d(g.constant(x.slice(i, 1)), g.constant(k)); }) == all.slice(i, 1));
}

TEST_CASE("pooling takes the greatest or the mean of what is inside the image") {
  const tensor x = f64({1, 3, 3, 1}, {1, -2, 3, 4, -5, 6, -9, -8, -7});
  const auto most = [&](pool_options o) { return value([&](graph& g) { return max_pool(g.constant(x), o); }); };
  const auto mean = [&](pool_options o) { return value([&](graph& g) { return average_pool(g.constant(x), o); }); };
  check_close(most({}), {1, 1, 1, 1}, {4});
  check_close(most({.padding = padding::same}), {1, 2, 2, 1}, {4, 6, -8, -7});
  check_close(most({.size = {2, 2}, .strides = {1, 1}}), {1, 2, 2, 1}, {4, 6, 4, 6});
  check_close(mean({}), {1, 1, 1, 1}, {-0.5});
  check_close(mean({.padding = padding::same}), {1, 2, 2, 1}, {-0.5, 4.5, -8.5, -7});
  check_close(value([&](graph& g) { return global_max_pool(g.constant(x)); }), {1, 1}, {6});
  const tensor with_nan = f64({1, 2, 2, 1}, {1, std::nan(""), 2, 3});
  CHECK(std::isnan(value([&](graph& g) { return max_pool(g.constant(with_nan)); }).as<double>()[0]));
}

TEST_CASE("images, kernels and windows that do not fit are errors with both shapes") {
  const auto zeros = [](graph& g, const shape& dims) { return g.constant(tensor::zeros(dtype::float32, dims)); };
  const auto says = [&](const std::function<symbol(graph&)>& f, const std::string& part) {
    CHECK(has(refusal(f), part));
  };
  says(
      [&](graph& g) {
        return conv2d(zeros(g, {4, 4, 3}), zeros(g, {3, 3, 3, 1}));
      },
      "conv2d: needs floating [batch, height, width, channels]");
  says(
      [&](graph& g) {
        return conv2d(zeros(g, {1, 4, 4, 3}), zeros(g, {3, 3, 2, 1}));
      },
      "a kernel [3, 3, 2, 1] in 1 groups does not fit the 3 channels of float32 [1, 4, 4, 3]");
  says(
      [&](graph& g) {
        return conv2d(zeros(g, {1, 4, 4, 3}), zeros(g, {5, 5, 3, 1}), {.padding = padding::valid});
      },
      "a window of {5, 5}, dilation {1, 1}, does not fit");
  says(
      [&](graph& g) {
        return conv2d(zeros(g, {1, 4, 4, 3}), zeros(g, {3, 3, 3, 1}), {.strides = {0, 1}});
      },
      "strides must be from 1 to 2^20, not {0, 1}");
  says([&](graph& g) { return max_pool(zeros(g, {1, 4, 4, 3}), {.size = {9, 1}}); }, "max_pool: a window of {9, 1}");
  says(
      [&](graph& g) {
        return conv2d_transpose(zeros(g, {1, 4, 4, 3}), zeros(g, {3, 3, 2, 2}));
      },
      "conv2d_transpose: a kernel [3, 3, 2, 2]");
}

}  // namespace troupe
