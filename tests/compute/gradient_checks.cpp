#include "tests/compute/gradient_checks.hpp"

#include "tests/compute/evaluate.hpp"

namespace troupe::test {
namespace {

const std::source_location here = std::source_location::current();
using list = const std::vector<symbol>&;

template <auto F>
std::vector<check> unary(double factor = 1, double shift = 0) {
  std::vector<check> all;
  for (const shape& dims : {shape{3, 2}, {}, {1}, {19}, {2, 1, 3}, {0}, {2, 0}})
    all.push_back({{dims}, [](graph&, list x) { return F(x[0], here); }, factor, shift});
  return all;
}

template <auto F>
std::vector<check> binary(double factor = 1, double shift = 0) {
  std::vector<check> all;
  const std::vector<std::pair<shape, shape>> shapes = {{{2, 3}, {2, 3}}, {{2, 3}, {3}},    {{2, 1}, {1, 3}},
                                                       {{}, {2, 2}},     {{1}, {1}},       {{2, 1, 2}, {3, 1}},
                                                       {{0}, {1}},       {{2, 0}, {2, 1}}, {{}, {}}};
  for (const auto& [a, b] : shapes)
    all.push_back({{a, b}, [](graph&, list x) { return F(x[0], x[1], here); }, factor, shift});
  return all;
}

symbol labels_of(graph& g) { return g.constant(tensor::of<int32_t>({3}, {1, 0, 3})); }
symbol indices_of(graph& g, const shape& dims) {
  std::vector<int64_t> x;
  for (int64_t i = 0; i < dims.elements(); ++i)
    x.push_back((i * 2) % 3);
  return g.constant(tensor::of<int64_t>(dims, std::span<const int64_t>{x}));
}

void add_products(checks_of& c) {
  for (bool ta : {false, true})
    for (bool tb : {false, true}) {
      const auto f = [=](graph&, list x) { return matmul(x[0], x[1], {ta, tb}); };
      const auto of = [&](int64_t m, int64_t k, int64_t n) -> std::vector<shape> {
        return {ta ? shape{k, m} : shape{m, k}, tb ? shape{n, k} : shape{k, n}};
      };
      for (const auto& inputs : {of(2, 4, 3), of(1, 1, 1), of(3, 1, 2), of(7, 2, 9)})
        c["matmul"].push_back({inputs, f});
      const auto many = [&](const shape& a, const shape& b) {
        auto inputs = of(2, 4, 3);
        for (int i = a.rank() - 1; i >= 0; --i)
          inputs[0] = inputs[0].prepend(a[i]);
        for (int i = b.rank() - 1; i >= 0; --i)
          inputs[1] = inputs[1].prepend(b[i]);
        c["batched_matmul"].push_back({inputs, f});
      };
      many({2}, {2});
      many({1}, {3});
      many({2, 2}, {2});
      many({}, {2});
      many({2}, {});
      many({0}, {0});
    }
}

void add_elementwise(checks_of& c) {
  c["add"] = binary<add>();
  c["sub"] = binary<sub>();
  c["mul"] = binary<mul>();
  c["div"] = binary<div>(1, 3);
  c["pow"] = binary<troupe::pow>(1, 2);
  c["maximum"] = binary<maximum>();
  c["minimum"] = binary<minimum>();
  c["relu_gradient"] = binary<relu_gradient>();
  for (const auto& [condition, a, b] : {std::tuple{shape{2, 3}, shape{2, 3}, shape{2, 3}},
                                        {{3}, {2, 3}, {}},
                                        {{2, 1}, {3}, {1, 3}},
                                        {{}, {2}, {2}},
                                        {{2, 3}, {}, {2, 3}},
                                        {{0}, {0}, {1}}})
    c["select"].push_back({{a, b}, [condition = condition](graph& g, list x) {
                             return select(equal(indices_of(g, condition), g.constant(tensor::scalar<int64_t>(2))),
                                           x[0], x[1]);
                           }});
  c["neg"] = unary<neg>();
  c["exp"] = unary<troupe::exp>();
  c["expm1"] = unary<troupe::expm1>();
  c["log"] = unary<troupe::log>(1, 2);
  c["log1p"] = unary<troupe::log1p>(0.5);
  c["sqrt"] = unary<troupe::sqrt>(1, 2);
  c["rsqrt"] = unary<troupe::rsqrt>(1, 2);
  c["square"] = unary<square>();
  c["abs"] = unary<troupe::abs>();
  c["sign"] = unary<sign>();
  c["floor"] = unary<troupe::floor>(3);
  c["erf"] = unary<troupe::erf>();
  c["relu"] = unary<relu>();
  c["sigmoid"] = unary<sigmoid>(3);
  c["softplus"] = unary<softplus>(3);
  c["tanh"] = unary<troupe::tanh>();
  c["gelu_tanh"] = unary<gelu_tanh>(3);
  for (const shape& dims : {shape{2, 3}, {1}, {0}, {17}, {}})
    c["gelu_tanh_gradient"].push_back(
        {{dims, dims}, [](graph&, list x) { return gelu_tanh_gradient(x[0], x[1], here); }, 2});
  c["scale"] = {{{{2, 3}}, [](graph&, list x) { return scale_per(x[0], 2.5, {extent{2}}, here); }}};
  c["clip"] = unary<[](symbol x, std::source_location at) { return clip(x, -0.3, 0.6, at); }>();
  c["check_numerics"] = unary<[](symbol x, std::source_location at) { return check_numerics(x, "x", at); }>();
  c["check_range"] = unary<[](symbol x, std::source_location at) { return check_range(x, -100, 100, "x", at); }>();
  c["cast"] = {{{{2}}, [](graph&, list x) { return cast(cast(x[0], dtype::float32), dtype::float64); }, 1, 0, false}};
}

void add_reductions(checks_of& c) {
  for (const shape& dims : {shape{2, 3, 2}, {1, 1, 1}, {3, 1, 2}, {2, 3, 1}, {1, 5, 4}})
    for (const std::vector<int>& axes : {std::vector<int>{}, {0}, {1}, {-1}, {0, 2}})
      for (bool keep : {false, true}) {
        c["reduce_sum"].push_back({{dims}, [=](graph&, list x) { return reduce_sum(x[0], {axes, keep}); }});
        c["reduce_sum"].push_back({{dims}, [=](graph&, list x) { return reduce_mean(x[0], {axes, keep}); }});
        c["reduce_max"].push_back({{dims}, [=](graph&, list x) { return reduce_max(x[0], {axes, keep}); }});
        c["reduce_max"].push_back({{dims}, [=](graph&, list x) { return reduce_logsumexp(x[0], {axes, keep}); }, 3});
        c["reduce_min"].push_back({{dims}, [=](graph&, list x) { return reduce_min(x[0], {axes, keep}); }});
        c["reduce_prod"].push_back({{dims}, [=](graph&, list x) { return reduce_prod(x[0], {axes, keep}); }});
      }
  for (const auto& axes : {std::vector<int>{0}, {1}})
    c["reduce_sum"].push_back({{{2, 0}}, [=](graph&, list x) { return reduce_sum(x[0], {axes}); }});
  for (int axis : {0, 1, -1}) {
    c["product_without"].push_back(
        {{{2, 4, 3}}, [=](graph&, list x) { return product_without(x[0], axis < 0 ? 2 : axis, here); }, 1, 0, false});
    for (bool exclusive : {false, true})
      for (bool reverse : {false, true})
        for (const shape& dims : {shape{2, 4, 3}, {1, 1, 1}, {0, 2, 2}})
          c["cumsum"].push_back({{dims}, [=](graph&, list x) { return cumsum(x[0], axis, {exclusive, reverse}); }});
  }
  for (const auto& [name, f] :
       {std::pair<std::string_view, activation>{"softmax", softmax}, {"log_softmax", log_softmax}})
    for (const shape& dims : {shape{3, 2}, {4}, {1, 1}, {2, 2, 17}, {0, 3}})
      c[name].push_back({{dims}, [f = f](graph&, list x) { return f(x[0], here); }, 3});
  for (const shape& dims : {shape{3, 5}, {4}, {2, 1}, {2, 2, 17}, {0, 3}, {2, 0}}) {
    c["normalise_rows"].push_back({{dims}, [](graph&, list x) { return normalise_rows(x[0], 0.1, here); }});
    c["normalise_rows_gradient"].push_back(
        {{dims, dims}, [](graph&, list x) { return normalise_rows_gradient(x[0], x[1], 0.1, here); }});
  }
}

void add_moves(checks_of& c) {
  c["reshape"] = {{{{2, 3}},
                   [](graph&, list x) {
                     return reshape(x[0], {3, 2});
                   }},
                  {{{1}}, [](graph&, list x) { return reshape(x[0], {}); }},
                  {{{0, 3}},
                   [](graph&, list x) {
                     return reshape(x[0], {3, 0});
                   }},
                  {{{2, 3}}, [](graph&, list x) { return expand_dims(x[0], 1); }},
                  {{{2, 1, 3}}, [](graph&, list x) { return squeeze(x[0], {1}); }}};
  for (const auto& [from, to] :
       {std::pair<shape, symbol_shape>{{2, 1}, {3, 2, 4}}, {{}, {2}}, {{1}, {1}}, {{3}, {2, 3}}, {{1, 1}, {0, 2}}})
    c["broadcast_to"].push_back({{from}, [to = to](graph&, list x) { return broadcast_to(x[0], to, here); }});
  for (const auto& [dims, order] : {std::pair<shape, std::vector<int>>{{2, 3}, {}},
                                    {{2, 3, 4}, {0, 2, 1}},
                                    {{2, 3, 4}, {2, 0, 1}},
                                    {{1, 3}, {1, 0}},
                                    {{2, 1, 2, 3}, {3, 1, 0, 2}},
                                    {{0, 2}, {}},
                                    {{2}, {0}}})
    c["transpose"].push_back({{dims}, [order = order](graph&, list x) { return transpose(x[0], order); }});
  for (const auto& [dims, axes] : {std::pair<shape, std::vector<int>>{{5}, {0}},
                                   {{2, 3}, {1}},
                                   {{2, 3}, {0, 1}},
                                   {{2, 3, 2}, {-2}},
                                   {{1}, {0}},
                                   {{0, 2}, {0}}})
    c["reverse"].push_back({{dims}, [axes = axes](graph&, list x) { return reverse(x[0], axes); }});
  using cut = std::vector<int64_t>;
  for (const auto& [dims, low, high, step] : {std::tuple<shape, cut, cut, cut>{{7}, {1}, {0}, {3}},
                                              {{7}, {0}, {2}, {2}},
                                              {{3, 4}, {1, 0}, {0, 2}, {}},
                                              {{2, 5}, {}, {}, {1, 4}},
                                              {{3}, {1}, {1}, {}},
                                              {{3}, {1}, {2}, {}},
                                              {{1}, {}, {}, {}},
                                              {{0, 3}, {}, {0, 1}, {}}}) {
    c["strided_slice"].push_back({{dims}, [low = low, high = high, step = step](graph&, list x) {
                                    return strided_slice(x[0], {low, high, step});
                                  }});
    cut between = step;
    for (int64_t& b : between)
      b -= 1;
    c["pad"].push_back({{dims}, [low = low, high = high, between](graph&, list x) {
                          return pad(x[0], {low, high, between, 2.5});
                        }});
  }
  for (const auto& [dims, times] : {std::pair<shape, cut>{{3}, {2}},
                                    {{2, 3}, {2, 1}},
                                    {{2, 3}, {1, 3}},
                                    {{2, 1, 2}, {2, 3, 2}},
                                    {{1}, {1}},
                                    {{0}, {3}}})
    c["tile"].push_back({{dims}, [times = times](graph&, list x) { return tile(x[0], times); }});
  c["concat"] = {{{{2, 3}, {2, 1}, {2, 4}}, [](graph&, list x) { return concat(x); }},
                 {{{3}, {2}}, [](graph&, list x) { return concat(x); }},
                 {{{2, 2, 1}, {2, 2, 2}}, [](graph&, list x) { return concat(x); }},
                 {{{2, 2, 2}, {2, 1, 2}}, [](graph&, list x) { return concat(x, 1); }},
                 {{{2, 3}, {1, 3}, {0, 3}}, [](graph&, list x) { return concat(x, 0); }},
                 {{{2, 3}, {2, 3}}, [](graph&, list x) { return stack(x, 1); }},
                 {{{2, 5}}, [](graph&, list x) {
                    const auto parts = split(x[0], {1, 3, 1});
                    return add(parts[0], mul(parts[1], parts[2]));
                  }}};
  for (const auto& [x, indices, axis] : {std::tuple{shape{3, 2}, shape{4}, 0},
                                         {{2, 3}, {2, 2}, 1},
                                         {{3}, {}, 0},
                                         {{2, 3, 2}, {5}, -2},
                                         {{3, 1}, {1}, 0},
                                         {{3, 2}, {0}, 0}})
    c["gather"].push_back({{x}, [indices = indices, axis = axis](graph& g, list v) {
                             return gather(v[0], indices_of(g, indices), axis);
                           }});
  for (const auto& [indices, inner] :
       {std::pair{shape{4}, shape{4, 2}}, {{2, 2}, {2, 2, 3}}, {{}, {2}}, {{1}, {1}}, {{0}, {0, 2}}})
    c["scatter_add"].push_back(
        {{inner}, [indices = indices](graph& g, list x) { return scatter_add(indices_of(g, indices), x[0], 3); }});
}

void add_images(checks_of& c) {
  for (const auto& [x, kernel, o] : {std::tuple{shape{1, 4, 3, 2}, shape{3, 3, 2, 2}, conv2d_options{}},
                                     {{2, 4, 4, 1}, {2, 2, 1, 3}, {.padding = padding::valid}},
                                     {{1, 5, 4, 2}, {3, 2, 2, 1}, {.strides = {2, 2}}},
                                     {{1, 5, 5, 2}, {2, 2, 2, 2}, {.dilation = {2, 1}}},
                                     {{1, 3, 3, 4}, {2, 2, 2, 2}, {.groups = 2}},
                                     {{1, 4, 3, 2}, {2, 2, 1, 2}, {.groups = 2}},
                                     {{1, 3, 4, 2}, {2, 3, 1, 4}, {.strides = {2, 1}, .groups = 2}},
                                     {{2, 3, 2, 3}, {1, 1, 3, 2}, {}},
                                     {{1, 1, 1, 1}, {1, 1, 1, 1}, {}},
                                     {{0, 2, 2, 1}, {2, 2, 1, 1}, {}}}) {
    c["conv2d"].push_back({{x, kernel}, [o = o](graph&, list v) { return conv2d(v[0], v[1], o); }});
    const windows w = [&, x = x, kernel = kernel, o = o] {
      graph g;
      const auto constant = [&](const shape& dims) { return g.constant(tensor::zeros(dtype::float64, dims)); };
      return contents_of(g).nodes[static_cast<size_t>(conv2d(constant(x), constant(kernel), o).node())].attr.window;
    }();
    graph g;
    const auto pooled = conv2d(g.constant(tensor::zeros(dtype::float64, x)),
                               g.constant(tensor::zeros(dtype::float64, kernel)), o)
                            .dims();
    const symbol_shape of_x{x.extents().begin(), x.extents().end()},
        of_kernel{kernel.extents().begin(), kernel.extents().end()};
    c["conv2d_image_gradient"].push_back({{known_shape(pooled), kernel}, [=](graph&, list v) {
                                            return conv2d_image_gradient(v[0], v[1], of_x, w, here);
                                          }});
    c["conv2d_kernel_gradient"].push_back({{x, known_shape(pooled)}, [=](graph&, list v) {
                                             return conv2d_kernel_gradient(v[0], v[1], of_kernel, w, here);
                                           }});
  }
  for (const auto& [x, o] : {std::pair{shape{1, 4, 4, 2}, pool_options{}},
                             {{2, 3, 5, 1}, {.padding = padding::same}},
                             {{1, 4, 4, 1}, {.size = {3, 2}, .strides = {1, 2}}},
                             {{1, 1, 1, 1}, {.size = {1, 1}, .strides = {1, 1}}},
                             {{0, 2, 2, 1}, {}}}) {
    c["max_pool"].push_back({{x}, [o = o](graph&, list v) { return max_pool(v[0], o); }});
    c["average_pool"].push_back({{x}, [o = o](graph&, list v) { return average_pool(v[0], o); }});
    graph g;
    const symbol pooled = max_pool(g.constant(tensor::zeros(dtype::float64, x)), o);
    const windows w = contents_of(g).nodes[static_cast<size_t>(pooled.node())].attr.window;
    const symbol_shape of_x{x.extents().begin(), x.extents().end()}, of_y{pooled.dims()};
    const tensor at = noise<double>(x, 40);
    c["max_pool_pick"].push_back(
        {{x}, [=](graph& h, list v) { return max_pool_pick(h.constant(at), v[0], of_y, w, here); }});
    c["max_pool_gradient"].push_back(
        {{known_shape(of_y)}, [=](graph& h, list v) { return max_pool_gradient(h.constant(at), v[0], w, here); }});
    c["average_pool_gradient"].push_back(
        {{known_shape(of_y)}, [=](graph&, list v) { return average_pool_gradient(v[0], of_x, w, here); }});
  }
}

void add_activations(checks_of& c) {
  // Functions that consist of several operations; each is listed under the name of one of them.
  for (auto& checks : {unary<[](symbol x, std::source_location at) { return leaky_relu(x, 0.1, at); }>(), unary<elu>(2),
                       unary<gelu>(2), unary<swish>(3)})
    c["mul"].insert(c["mul"].end(), checks.begin(), checks.end());
}

}  // namespace

const checks_of& gradient_checks() {
  static const checks_of all = [] {
    checks_of c;
    add_products(c);
    add_elementwise(c);
    add_activations(c);
    add_reductions(c);
    add_moves(c);
    add_images(c);
    c["sparse_softmax_cross_entropy"] = {
        {{{3, 4}}, [](graph& g, list x) { return sparse_softmax_cross_entropy(labels_of(g), x[0]); }, 3}};
    c["cross_entropy_gradient"] = {
        {{{3, 4}, {3}}, [](graph& g, list x) { return cross_entropy_gradient(x[0], labels_of(g), x[1], here); }}};
    c["dropout"] = {{{{20}}, [](graph&, list x) { return dropout(x[0], 0.4, true); }},
                    {{{2, 3}}, [](graph&, list x) { return dropout(x[0], 0.9, true); }},
                    {{{1}}, [](graph&, list x) { return dropout(x[0], 0.1, true); }}};
    return c;
  }();
  return all;
}

}  // namespace troupe::test
