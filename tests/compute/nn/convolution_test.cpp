#include "tests/compute/nn/run_layer.hpp"
#include "tests/support/has.hpp"

#include <troupe/nn.hpp>

namespace troupe {

using namespace test;
using strings = std::vector<std::string>;

namespace {

struct placed {
  std::array<int64_t, 2> strides{1, 1}, dilation{1, 1};
  padding how = padding::valid;
  int64_t groups = 1;
};

/// Calls f(output pixel, input pixel, tap) for each kernel element that lies inside the image. Pixels and taps are flat
/// indices, over all images of the batch.
template <class F>
void each_meeting(const shape& x, const shape& y, const shape& kernel, const placed& o, F f) {
  const auto pad = [&](int axis, size_t i) {
    const int64_t reach = (kernel[axis - 1] - 1) * o.dilation[i] + 1;
    return o.how == padding::valid ? 0 : std::max<int64_t>(0, (y[axis] - 1) * o.strides[i] + reach - x[axis]) / 2;
  };
  for (int64_t b = 0; b < y[0]; ++b)
    for (int64_t i = 0; i < y[1]; ++i)
      for (int64_t j = 0; j < y[2]; ++j)
        for (int64_t di = 0; di < kernel[0]; ++di)
          for (int64_t dj = 0; dj < kernel[1]; ++dj) {
            const int64_t r = i * o.strides[0] + di * o.dilation[0] - pad(1, 0),
                          q = j * o.strides[1] + dj * o.dilation[1] - pad(2, 1);
            if (r >= 0 && r < x[1] && q >= 0 && q < x[2])
              f((b * y[1] + i) * y[2] + j, (b * x[1] + r) * x[2] + q, di * kernel[1] + dj);
          }
}

double& at(vec& v, int64_t i) { return v[static_cast<size_t>(i)]; }
double at(const vec& v, int64_t i) { return v[static_cast<size_t>(i)]; }

/// y[o] = Σ x[c] · kernel[tap, c, o] over the channels of o's group.
vec convolved(const vec& x, const shape& in, const shape& y, const vec& k, const shape& kernel, const placed& o) {
  vec out(static_cast<size_t>(y.elements()));
  const int64_t per = kernel[3] / o.groups;
  each_meeting(in, y, kernel, o, [&](int64_t to, int64_t from, int64_t tap) {
    for (int64_t f = 0; f < kernel[3]; ++f)
      for (int64_t c = 0; c < kernel[2]; ++c)
        at(out, to * kernel[3] + f) += at(x, from * in[3] + f / per * kernel[2] + c)
                                       * at(k, (tap * kernel[2] + c) * kernel[3] + f);
  });
  return out;
}

/// Outputs [c · multiplier, (c + 1) · multiplier) are those of channel c.
vec convolved_by_channel(const vec& x, const shape& in, const shape& y, const vec& k, const shape& kernel,
                         const placed& o) {
  vec out(static_cast<size_t>(y.elements()));
  each_meeting(in, y, kernel, o, [&](int64_t to, int64_t from, int64_t tap) {
    for (int64_t c = 0; c < in[3]; ++c)
      for (int64_t m = 0; m < kernel[3]; ++m)
        at(out, to * y[3] + c * kernel[3] + m) += at(x, from * in[3] + c) * at(k, (tap * in[3] + c) * kernel[3] + m);
  });
  return out;
}

/// The adjoint: each pixel of x is added to every pixel of y that a convolution of y would read for it.
vec spread(const vec& x, const shape& in, const shape& y, const vec& k, const shape& kernel, const placed& o) {
  vec out(static_cast<size_t>(y.elements()));
  each_meeting(y, in, kernel, o, [&](int64_t from, int64_t to, int64_t tap) {
    for (int64_t f = 0; f < kernel[2]; ++f)
      for (int64_t c = 0; c < kernel[3]; ++c)
        at(out, to * kernel[2] + f) += at(x, from * in[3] + c) * at(k, (tap * kernel[2] + f) * kernel[3] + c);
  });
  return out;
}

vec each(vec x, double (*f)(double)) {
  for (double& v : x)
    v = f(v);
  return x;
}

double positive(double x) { return std::max(x, 0.0); }

}  // namespace

TEST_CASE(
    "a convolution layer is activation(x * kernel + bias), with strides, dilation, groups and both kinds of padding") {
  const tensor x = noise<double>({2, 7, 6, 4}, 1);
  const auto run = run_layer([&](graph& g) {
    return nn::conv2d(g.constant(x), {.filters = 5, .kernel_size = {3, 2}, .activation = relu});
  });
  CHECK(run.names() == strings{"conv2d/bias", "conv2d/kernel"});
  CHECK(run.variables.at("conv2d/kernel").dims() == shape{3, 2, 4, 5});
  check_close(run.value(), {2, 5, 5, 5},
              each(plus_rows(convolved(numbers(x), x.dims(), {2, 5, 5, 5}, run.of("conv2d/kernel"), {3, 2, 4, 5}, {}),
                             run.of("conv2d/bias")),
                   positive),
              1e-13);
  for (const placed& o :
       {placed{{2, 3}}, placed{{1, 1}, {2, 1}, padding::same}, placed{{2, 1}, {1, 2}, padding::same, 2}}) {
    const auto other = run_layer([&](graph& g) {
      return nn::conv2d(g.constant(x), {.filters = 6,
                                        .kernel_size = {3, 3},
                                        .strides = o.strides,
                                        .dilation = o.dilation,
                                        .padding = o.how,
                                        .groups = o.groups,
                                        .bias = false,
                                        .name = "c"});
    });
    CHECK(other.names() == strings{"c/kernel"});
    const shape kernel{3, 3, 4 / o.groups, 6}, dims = other.value().dims();
    CHECK(other.variables.at("c/kernel").dims() == kernel);
    check_close(other.value(), dims, convolved(numbers(x), x.dims(), dims, other.of("c/kernel"), kernel, o), 1e-13);
  }
  check_layer_gradients({{2, 4, 4, 2}}, [](graph&, const std::vector<symbol>& in) {
    return nn::conv2d(
        in[0],
        {.filters = 3, .kernel_size = {2, 3}, .strides = {2, 1}, .padding = padding::same, .activation = troupe::tanh});
  });
}

TEST_CASE(
    "a layer called twice has kernels twice, and each starts at its own numbers within Glorot's limit of its field") {
  const auto run = run_layer(
      [](graph& g) {
        symbol h = g.constant(noise<double>({1, 8, 8, 3}, 1));
        for (int i = 0; i < 2; ++i)
          h = nn::conv2d(h, {.filters = 16, .kernel_size = {3, 3}});
        return h;
      },
      0);
  CHECK(run.names() == strings{"conv2d/bias", "conv2d/kernel", "conv2d_1/bias", "conv2d_1/kernel"});
  CHECK(run.variables.at("conv2d_1/kernel").dims() == shape{3, 3, 16, 16});
  for (const auto& [name, in] : {std::pair{"conv2d/kernel", 3.0}, {"conv2d_1/kernel", 16.0}}) {
    const auto k = run.of(name);
    const double limit = std::sqrt(6 / (9 * in + 9 * 16)), greatest = *std::max_element(k.begin(), k.end());
    CHECK(greatest < limit);
    CHECK(greatest > 0.95 * limit);
  }
  const auto bias = run.of("conv2d/bias");
  CHECK(std::all_of(bias.begin(), bias.end(), [](double b) { return b == 0; }));
  const auto he = run_layer(
                      [](graph& g) {
                        return nn::conv2d(g.constant(noise<double>({1, 5, 5, 8}, 1)),
                                          {.filters = 32, .kernel_size = {5, 5}, .kernel = init::he_uniform()});
                      },
                      0)
                      .of("conv2d/kernel");
  CHECK(*std::max_element(he.begin(), he.end()) == doctest::Approx(std::sqrt(6.0 / (25 * 8))).epsilon(0.01));
}

TEST_CASE("a transposed convolution layer spreads each pixel by its kernel") {
  const tensor x = noise<double>({2, 3, 4, 3}, 1);
  for (const auto& [how, dims] : {std::pair{padding::valid, shape{2, 7, 9, 5}}, {padding::same, shape{2, 6, 8, 5}}}) {
    const auto run = run_layer([&, how = how](graph& g) {
      return nn::conv2d_transpose(
          g.constant(x), {.filters = 5, .kernel_size = {3, 3}, .strides = {2, 2}, .padding = how, .activation = relu});
    });
    CHECK(run.variables.at("conv2d_transpose/kernel").dims() == shape{3, 3, 5, 3});
    check_close(run.value(), dims,
                each(plus_rows(spread(numbers(x), x.dims(), dims, run.of("conv2d_transpose/kernel"), {3, 3, 5, 3},
                                      {{2, 2}, {1, 1}, how}),
                               run.of("conv2d_transpose/bias")),
                     positive),
                1e-13);
  }
  check_layer_gradients({{1, 2, 3, 2}}, [](graph&, const std::vector<symbol>& in) {
    return nn::conv2d_transpose(in[0], {.filters = 2, .kernel_size = {2, 2}, .strides = {2, 1}, .activation = sigmoid});
  });
  check_layer_gradients({{1, 2, 3, 2}}, [](graph&, const std::vector<symbol>& in) {
    return nn::conv2d_transpose(in[0], {.filters = 2, .kernel_size = {1, 2}, .strides = {2, 3}, .activation = sigmoid});
  });
}

TEST_CASE("a depthwise layer convolves each channel by itself, and a separable one mixes them after") {
  const tensor x = noise<double>({2, 6, 5, 3}, 1);
  const shape kernel{3, 2, 3, 2}, middle{2, 4, 4, 6};
  const auto one = run_layer([&](graph& g) {
    return nn::depthwise_conv2d(g.constant(x), {.kernel_size = {3, 2}, .depth_multiplier = 2, .activation = relu});
  });
  CHECK(one.variables.at("depthwise_conv2d/depthwise_kernel").dims() == kernel);
  check_close(one.value(), middle,
              each(plus_rows(convolved_by_channel(numbers(x), x.dims(), middle,
                                                  one.of("depthwise_conv2d/depthwise_kernel"), kernel, {}),
                             one.of("depthwise_conv2d/bias")),
                   positive),
              1e-13);
  const auto two = run_layer([&](graph& g) {
    return nn::separable_conv2d(
        g.constant(x), {.filters = 7, .kernel_size = {3, 2}, .depth_multiplier = 2, .activation = troupe::tanh});
  });
  CHECK(two.names()
        == strings{"separable_conv2d/bias", "separable_conv2d/depthwise_kernel", "separable_conv2d/pointwise_kernel"});
  CHECK(two.variables.at("separable_conv2d/pointwise_kernel").dims() == shape{1, 1, 6, 7});
  const auto apart = convolved_by_channel(numbers(x), x.dims(), middle, two.of("separable_conv2d/depthwise_kernel"),
                                          kernel, {});
  check_close(two.value(), {2, 4, 4, 7},
              each(plus_rows(product(apart, two.of("separable_conv2d/pointwise_kernel"), 32, 6, 7),
                             two.of("separable_conv2d/bias")),
                   std::tanh),
              1e-13);
  check_layer_gradients({{1, 4, 3, 2}}, [](graph&, const std::vector<symbol>& in) {
    return nn::separable_conv2d(
        in[0],
        {.filters = 2, .kernel_size = {2, 2}, .strides = {2, 1}, .padding = padding::same, .depth_multiplier = 2});
  });
}

TEST_CASE("windows of pooling lie side by side unless strides are given, and global pools drop the axes") {
  const tensor x = f64({1, 3, 6, 1}, {1, 2, 3, 4, 5, 6, 9, 8, 7, 6, 5, 4, 0, 1, 0, 1, 0, 1});
  check_close(value([&](graph& g) { return nn::max_pool(g.constant(x)); }), {1, 1, 3, 1}, {9, 7, 6});
  check_close(value([&](graph& g) {
                return nn::average_pool(g.constant(x), {.size = {3, 3}});
              }),
              {1, 1, 2, 1}, {31.0 / 9, 32.0 / 9});
  check_close(value([&](graph& g) {
                return nn::max_pool(g.constant(x), {.size = {3, 3}, .strides = {1, 3}, .padding = padding::same});
              }),
              {1, 3, 2, 1}, {9, 6, 9, 6, 9, 6});
  check_close(value([&](graph& g) {
                return nn::average_pool(g.constant(x), {.size = {1, 2}, .strides = {2, 0}});
              }),
              {1, 2, 3, 1}, {1.5, 3.5, 5.5, 0.5, 0.5, 0.5});
  const tensor two = f64({2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 0});
  check_close(value([&](graph& g) { return nn::global_average_pool(g.constant(two)); }), {2, 2}, {2, 3, 6, 3});
  check_close(value([&](graph& g) { return nn::global_max_pool(g.constant(two)); }), {2, 2}, {3, 4, 7, 6});
}

TEST_CASE("flatten keeps the batch, and dropout happens while training only") {
  graph g;
  const symbol image = g.placeholder("x", dtype::float32, {g.unknown("batch"), 4, 3, 2});
  CHECK(nn::flatten(image).dims() == symbol_shape{g.unknown("batch"), 24});
  CHECK(nn::flatten(g.placeholder("row", dtype::int32, {g.unknown("batch")})).dims()
        == symbol_shape{g.unknown("batch"), 1});
  CHECK(nn::dropout(image, false).node() == image.node());
  CHECK(g.status());
  const auto dropped = numbers(value([](graph& h) {
    return nn::dropout(h.constant(f64({8}, {1, 1, 1, 1, 1, 1, 1, 1})), true, {.rate = 0.75});
  }));
  CHECK(std::all_of(dropped.begin(), dropped.end(), [](double v) { return v == 0 || v == 4; }));
}

TEST_CASE("what does not fit a layer of images is refused with its name, what was given and what would be right") {
  const auto says = [](auto build, const std::string& part) {
    const auto text = refusal([&](graph& g) {
      return build(g, g.placeholder("x", dtype::float32, {g.unknown("batch"), 5, 4, 6}));
    });
    CHECK(has(text, part));
  };
  says(
      [](graph&, symbol x) {
        return nn::conv2d(x, {.kernel_size = {3, 3}});
      },
      "conv2d: filters must be at least 1, not 0");
  says([](graph&, symbol x) { return nn::conv2d(x, {.filters = 3}); }, "conv2d: kernel_size must be at least 1, not 0");
  says(
      [](graph&, symbol x) {
        return nn::conv2d(x, {.filters = 3, .kernel_size = {2, 2}, .groups = 0});
      },
      "conv2d: groups must be at least 1, not 0");
  says(
      [](graph&, symbol x) {
        return nn::conv2d(x, {.filters = 3, .kernel_size = {2, 2}, .groups = 2});
      },
      "conv2d: groups must divide the filters and the channels of its operand: 2 do not divide 3 filters and float32 "
      "[batch, 5, 4, 6]");
  says(
      [](graph&, symbol x) {
        return nn::conv2d(x, {.filters = 3, .kernel_size = {6, 2}});
      },
      "conv2d/conv2d: a window of {6, 2}, dilation {1, 1}, does not fit float32 [batch, 5, 4, 6]");
  says(
      [](graph&, symbol x) {
        return nn::conv2d(x, {.filters = 3, .kernel_size = {2, 2}, .strides = {0, 1}});
      },
      "strides must be from 1 to 2^20, not {0, 1}");
  says(
      [](graph&, symbol x) {
        return nn::conv2d(nn::flatten(x), {.filters = 3, .kernel_size = {1, 1}});
      },
      "conv2d: operand must be floating [batch, height, width, channels] with known extents, not float32 [batch, 120]");
  says(
      [](graph&, symbol x) {
        return nn::conv2d(x, {.filters = int64_t{1} << 47, .kernel_size = {3, 3}});
      },
      "more than 2^48 elements");
  says(
      [](graph&, symbol x) {
        return nn::conv2d_transpose(x, {.filters = -1, .kernel_size = {2, 2}});
      },
      "conv2d_transpose: filters must be at least 1, not -1");
  says(
      [](graph&, symbol x) {
        return nn::depthwise_conv2d(x, {.kernel_size = {2, 2}, .depth_multiplier = 0});
      },
      "depth_multiplier must be at least 1, not 0");
  says(
      [](graph&, symbol x) {
        return nn::separable_conv2d(x, {.filters = 2, .kernel_size = {2, 2}, .depth_multiplier = INT64_MAX});
      },
      "more than 2^48 elements");
  says([](graph&, symbol x) { return nn::max_pool(x, {.size = {6, 6}}); }, "max_pool: a window of {6, 6}");
  says(
      [](graph&, symbol x) {
        return nn::average_pool(x, {.strides = {-1, 1}});
      },
      "average_pool: strides must be from 1 to 2^20, not {-1, 1}");
  says([](graph&, symbol x) { return nn::global_average_pool(nn::flatten(x)); },
       "global_average_pool: operand must be floating [batch, height");
  says(
      [](graph& g, symbol) {
        return nn::flatten(g.placeholder("y", dtype::float32, {2, g.unknown("time")}));
      },
      "flatten: operand must be [batch, ...] with known extents after the first, not float32 [2, time]");
  says([](graph&, symbol x) { return nn::dropout(x, true, {.rate = 1}); }, "dropout: rate 1.000000 is outside [0, 1)");
}

}  // namespace troupe
