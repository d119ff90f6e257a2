// sparse_softmax_cross_entropy: loss[i] = log Σ_j e^(x_ij - max_i) - (x_i,label(i) - max_i), and its gradient,
// softmax(x) - one_hot(label).
//
// One kernel computes either or both. A packet holds one column of several rows, so that rows of two or ten classes
// cost few exponentials and a row's bits do not depend on its neighbours.
#include "compute/kernels/simd.hpp"
#include "compute/operations/lowering.hpp"

namespace troupe {
namespace {

enum at { logits_at, labels_at, loss_at, gradient_at, dy_at };

/// As many rows of the operands as one packet has lanes.
template <class T>
struct row_block {
  static constexpr int64_t w = simd::width<T>;
  int64_t count;    ///< Rows that exist, at most `w`; the other lanes are zeros.
  int64_t classes;  ///< Elements from row to row.

  simd::packet<T> column(const T* x, int64_t j) const {
    if (count == w)
      return Eigen::internal::pgather<T, simd::packet<T>>(x + j, classes);
    alignas(64) T lanes[w] = {};
    for (int64_t r = 0; r < count; ++r)
      lanes[r] = x[r * classes + j];
    return simd::load(lanes);
  }
  void set_column(T* x, int64_t j, const simd::packet<T>& v) const {
    if (count == w)
      return Eigen::internal::pscatter<T, simd::packet<T>>(x + j, v, classes);
    alignas(64) T lanes[w];
    simd::store(lanes, v);
    for (int64_t r = 0; r < count; ++r)
      x[r * classes + j] = lanes[r];
  }
};

template <class T, class Label>
void cross_entropy_kernel(const kernel_call& c, run_state& s) {
  using simd::packet;
  constexpr int64_t w = simd::width<T>;
  // Up to this many classes, columns are gathered once and kept; with more, each time.
  constexpr int64_t classes_kept = 32;
  constexpr int64_t chunk = 512;  // This many classes are added in one chain.
  const int64_t rows = c.n[0], classes = c.n[1];
  const bool keeps = classes <= classes_kept;
  const Label* labels = c.to<const Label>(s, labels_at);
  T* loss = c.maybe<T>(s, loss_at);
  T* gradient = c.maybe<T>(s, gradient_at);
  const T* dy = c.maybe<const T>(s, dy_at);
  if (!indices_fit(c, s, labels, rows, classes))
    return;
  alignas(64) T kept[classes_kept * w];
  for (int64_t first = 0; first < rows; first += w, labels += w) {
    const row_block<T> block{std::min(w, rows - first), classes};
    const T* x = c.to<const T>(s, logits_at) + first * classes;
    T* g = gradient ? gradient + first * classes : nullptr;  // May overwrite the logits.
    packet<T> highest = block.column(x, 0);
    for (int64_t j = 0; j < classes; ++j) {
      const packet<T> v = block.column(x, j);
      highest = simd::pmax(highest, v);
      if (keeps)
        simd::store(kept + j * w, v);
    }
    alignas(64) T chosen[w] = {};
    for (int64_t r = 0; r < block.count; ++r)
      chosen[r] = x[r * classes + static_cast<int64_t>(labels[r])];
    packet<T> sum = simd::set(T{0});
    alignas(64) double sums[w] = {};  // Sums of whole chunks of classes.
    alignas(64) T lanes[w];
    for (int64_t j = 0; j < classes; ++j) {
      if (j > 0 && j % chunk == 0) {
        simd::store(lanes, sum);
        for (int64_t r = 0; r < w; ++r)
          sums[r] += static_cast<double>(lanes[r]);
        sum = simd::set(T{0});
      }
      const auto e = simd::pexp(simd::psub(keeps ? simd::load(kept + j * w) : block.column(x, j), highest));
      sum = simd::padd(sum, e);
      if (keeps)
        simd::store(kept + j * w, e);
      else if (g)
        block.set_column(g, j, e);
    }
    if (classes > chunk) {
      simd::store(lanes, sum);
      for (int64_t r = 0; r < w; ++r)
        lanes[r] = static_cast<T>(sums[r] + static_cast<double>(lanes[r]));
      sum = simd::load(static_cast<const T*>(lanes));
    }
    if (loss)  // Subtracts the maximum from the logit: added to the logarithm, a large maximum would absorb it.
      simd::store_part(loss + first, simd::psub(simd::plog(sum), simd::psub(simd::load(chosen), highest)), block.count);
    if (!g)
      continue;
    const packet<T> factor = dy ? simd::load_part(dy + first, block.count) : simd::set(static_cast<T>(c.number));
    const packet<T> scaled = simd::pdiv(factor, sum);
    for (int64_t j = 0; j < classes; ++j)
      block.set_column(g, j, simd::pmul(scaled, keeps ? simd::load(kept + j * w) : block.column(g, j)));
    alignas(64) T each[w];
    simd::store(each, factor);
    for (int64_t r = 0; r < block.count; ++r)
      g[r * classes + static_cast<int64_t>(labels[r])] -= each[r];
  }
}

void lower_common(lowering& l) {
  l.kernel.at[logits_at] = l.in_at(0);
  l.kernel.at[labels_at] = l.in_at(1);
  l.kernel.n[0] = l.in(0).dims[0];
  l.kernel.n[1] = l.in(0).dims[1];
  l.kernel.number = l.call.attr.number;
  const int64_t size = size_of(l.in(0).type), row = l.kernel.n[1] * size;
  // The steps are in the order of `enum at`.
  l.division = {.items = l.kernel.n[0], .unit = 64, .step = {row, size_of(l.in(1).type), size, row, size}};
  switch (l.in(1).type) {
    case dtype::int32:
      l.run(l.in(0).type, cross_entropy_kernel<float, int32_t>, cross_entropy_kernel<double, int32_t>);
      break;
    case dtype::int64:
      l.run(l.in(0).type, cross_entropy_kernel<float, int64_t>, cross_entropy_kernel<double, int64_t>);
      break;
    default: l.run(l.in(0).type, cross_entropy_kernel<float, uint8_t>, cross_entropy_kernel<double, uint8_t>); break;
  }
}

void lower_loss(lowering& l) {
  lower_common(l);
  l.kernel.at[loss_at] = l.out_at();
}

void lower_gradient(lowering& l) {
  lower_common(l);
  l.kernel.at[dy_at] = l.in_at(2);
  l.kernel.at[gradient_at] = l.out_at();
}

void lower_both(lowering& l) {
  lower_common(l);
  l.kernel.at[loss_at] = l.out_at(0);
  l.kernel.at[gradient_at] = l.out_at(1);
}

symbol column_of(symbol x, std::source_location at) { return reshape(x, {x.dims()[0], extent{1}}, at); }

/// With p = softmax(x), q = p - one_hot: d/dx of q·dy is p·(v - Σ p·v), v = dz·dy; d/d(dy) is Σ dz·q.
std::vector<symbol> gradient_of_gradient(const gradient_input& in) {
  const symbol p = softmax(in.x[0], in.at);
  const symbol v = mul(in.dy, column_of(in.x[2], in.at), in.at);
  const symbol inner = reduce_sum(mul(p, v, in.at), {{-1}, true}, in.at);
  const auto& classes = in.x[0].dims()[1];
  const symbol q = sub(p, one_hot(in.x[1], classes.coefficient, in.n.type, in.at), in.at);
  return {mul(p, sub(v, inner, in.at), in.at), symbol{}, reduce_sum(mul(in.dy, q, in.at), {{-1}}, in.at)};
}

graph* checked(std::string_view name, symbol logits, symbol labels, std::source_location at) {
  graph* g = common_graph(name, {logits, labels}, at);
  if (!g)
    return nullptr;
  const bool fits = logits.rank() == 2 && labels.rank() == 1 && logits.dims()[0] == labels.dims()[0]
                    && logits.dims()[1].known();
  if (fits && is_floating(logits.type()) && is_integer(labels.type()))
    return g;
  refuse(*g, name,
         "labels must be integers [rows] and logits, after them, floating [rows, classes], not " + describe(labels)
             + " and " + describe(logits),
         at);
  return nullptr;
}

}  // namespace

namespace ops {
const operation sparse_softmax_cross_entropy{
    .name = "sparse_softmax_cross_entropy",
    .gradient =
        [](const gradient_input& in) {
          return std::vector<symbol>{troupe::cross_entropy_gradient(in.x[0], in.x[1], in.dy, in.at), symbol{}};
        },
    .lower = lower_loss,
    .index_is = "label"};
const operation cross_entropy_gradient{.name = "cross_entropy_gradient",
                                       .gradient = gradient_of_gradient,
                                       .lower = lower_gradient,
                                       .in_place = true,
                                       .index_is = "label"};
const operation cross_entropy_with_gradient{.name = "cross_entropy_with_gradient",
                                            .no_gradient = "made by the planner",
                                            .lower = lower_both,
                                            .in_place = true,
                                            .index_is = "label"};
}  // namespace ops

symbol sparse_softmax_cross_entropy(symbol labels, symbol logits, std::source_location at) {
  graph* g = checked("sparse_softmax_cross_entropy", logits, labels, at);
  if (!g)
    return logits.owner() ? symbol_of(*logits.owner(), -1) : symbol{};
  return append(*g, ops::sparse_softmax_cross_entropy, {logits, labels}, logits.type(), {logits.dims()[0]}, at);
}

symbol cross_entropy_gradient(symbol logits, symbol labels, symbol dy, std::source_location at) {
  graph* g = checked("cross_entropy_gradient", logits, labels, at);
  if (!g || !dy.valid())
    return logits.owner() ? symbol_of(*logits.owner(), -1) : symbol{};
  return append(*g, ops::cross_entropy_gradient, {logits, labels, dy}, logits.type(), symbol_shape{logits.dims()}, at);
}

}  // namespace troupe
