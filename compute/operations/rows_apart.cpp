// Finds out, by induction over the nodes, whether the rows of a batch are computed independently of each other.
//
// A value has rows if exactly one of its axes is unknown, of extent c · batch, and if its elements in memory order are
// [outer][batch][inner], where those at [., i, .] depend on row i of the inputs alone. A reshape that keeps the number
// of elements before and after the batch keeps the rows. `repeats`: 1 if the c elements of a row are adjacent; c if the
// axis holds c batches one after another, as in the sequence [time · batch, n].
#include "compute/graph/operation.hpp"
#include "compute/operations/stored_graph.hpp"

#include <algorithm>

namespace troupe {
namespace {

struct dependence {
  enum class kind : uint8_t {
    none,  ///< The same value for every batch.
    rows,
    offset,  ///< Whole numbers [batch, 1, ...]: `stride` times the index of the row.
    mixed,   ///< Any other.
  };
  kind is = kind::mixed;
  int axis = 0;  ///< rows: the axis that contains the batch.
  int64_t repeats = 1;
  int64_t stride = 0;

  static dependence free() { return {kind::none}; }
  static dependence mixed() { return {}; }
  static dependence rows(int axis, int64_t repeats = 1) { return {kind::rows, axis, repeats}; }
  friend bool operator==(const dependence&, const dependence&) = default;
};

int64_t product(symbol_shape::const_iterator first, symbol_shape::const_iterator last) {
  int64_t all = 1;
  for (; first != last; ++first)
    all *= first->coefficient;
  return all;
}

class row_search {
 public:
  explicit row_search(const graph_contents& g) : g_(g), found_(g.nodes.size()) {}

  dependence of(size_t i) {
    found_[i] = look(g_.nodes[i]);
    return found_[i];
  }

 private:
  using kind = dependence::kind;

  /// The only axis that is not known, if its unknown is the batch; else -1.
  int batch_axis(const symbol_shape& dims) const {
    const auto unknown = [](const extent& e) { return !e.known(); };
    const auto at = std::find_if(dims.begin(), dims.end(), unknown);
    if (at == dims.end() || std::any_of(at + 1, dims.end(), unknown)
        || g_.unknowns[static_cast<size_t>(at->unknown)] != "batch")
      return -1;
    return static_cast<int>(at - dims.begin());
  }
  const node& in(const node& n, size_t i) const { return g_.nodes[static_cast<size_t>(n.inputs[i])]; }
  const dependence& at(const node& n, size_t i) const { return found_[static_cast<size_t>(n.inputs[i])]; }
  bool has_rows(const node& n, size_t i) const { return at(n, i).is == kind::rows; }
  bool is_free(const node& n, size_t i) const { return at(n, i).is == kind::none; }
  bool all(const node& n, kind k) const {
    return std::all_of(n.inputs.begin(), n.inputs.end(),
                       [&](int32_t i) { return found_[static_cast<size_t>(i)].is == k; });
  }
  /// Whether all operands have rows, along the same axis and with the same `repeats`.
  bool alike(const node& n) const {
    for (size_t i = 0; i < n.inputs.size(); ++i)
      if (!has_rows(n, i) || !(at(n, i) == at(n, 0)))
        return false;
    return !n.inputs.empty();
  }

  dependence look(const node& n) const {
    if (n.op == &ops::variable || n.op == &ops::constant)
      return dependence::free();
    const int axis = batch_axis(n.dims);
    if (n.op == &ops::placeholder)
      return axis == 0 && n.dims.front().coefficient == 1 ? dependence::rows(0) : dependence::mixed();
    if (std::any_of(n.attr.per.begin(), n.attr.per.end(), [](const extent& e) { return !e.known(); }))
      return dependence::mixed();  // The value depends on the number of rows.
    if (all(n, kind::none)) {
      const bool known = std::all_of(n.dims.begin(), n.dims.end(), [](const extent& e) { return e.known(); });
      return known                                     ? dependence::free()
             : axis >= 0 && n.op == &ops::broadcast_to ? dependence::rows(axis)
                                                       : dependence::mixed();
    }
    if (axis < 0)
      return dependence::mixed();
    if (const auto offset = offset_of(n); offset.is == kind::offset)
      return offset;
    const auto made = kept(n);
    return made.is == kind::rows && made.axis == axis
                   && n.dims[static_cast<size_t>(axis)].coefficient % made.repeats == 0
               ? made
               : dependence::mixed();
  }

  /// The rows of operand i if its batch axis is also that of the result, counted from the last axis; else mixed.
  dependence along(const node& n, size_t i) const {
    const auto& x = in(n, i).dims;
    dependence made = at(n, i);
    if (made.is != kind::rows || x.size() > n.dims.size())
      return dependence::mixed();
    const extent& e = x[static_cast<size_t>(made.axis)];
    made.axis += static_cast<int>(n.dims.size() - x.size());
    return e == n.dims[static_cast<size_t>(made.axis)] ? made : dependence::mixed();
  }

  dependence elementwise(const node& n) const {
    std::optional<dependence> common;
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      if (is_free(n, i))
        continue;
      const auto one = along(n, i);
      if (one.is != kind::rows || (common && !(*common == one)))
        return dependence::mixed();
      common = one;
    }
    return common.value_or(dependence::mixed());
  }

  /// A reshape keeps the order of elements, and so the number of elements before the batch.
  dependence reshaped(const node& n) const {
    const auto& x = in(n, 0).dims;
    const int axis = batch_axis(n.dims);
    const int64_t outer = product(x.begin(), x.begin() + at(n, 0).axis) * at(n, 0).repeats,
                  before = product(n.dims.begin(), n.dims.begin() + axis);
    return has_rows(n, 0) && before > 0 && outer > 0 && outer % before == 0 ? dependence::rows(axis, outer / before)
                                                                            : dependence::mixed();
  }

  /// The rows of operand i, whose batch axis has become `axis` of the result.
  dependence moved(const node& n, size_t i, int axis) const {
    return has_rows(n, i) ? dependence::rows(axis, at(n, i).repeats) : dependence::mixed();
  }
  dependence given(bool right, const dependence& made) const { return right ? made : dependence::mixed(); }
  static bool has(const std::vector<int>& axes, int axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  }

  dependence reduced(const node& n) const {
    const auto& axes = n.attr.axes;
    const int axis = at(n, 0).axis;
    const auto before = static_cast<int>(std::count_if(axes.begin(), axes.end(), [axis](int a) { return a < axis; }));
    return given(!has(axes, axis), moved(n, 0, in(n, 0).dims.size() == n.dims.size() ? axis : axis - before));
  }

  dependence gathered(const node& n) const {
    const int axis = n.attr.axis, indices = static_cast<int>(in(n, 1).dims.size());
    if (is_free(n, 0))
      return moved(n, 1, at(n, 1).axis + axis);
    if (is_free(n, 1))
      return given(at(n, 0).axis != axis,
                   moved(n, 0, at(n, 0).axis < axis ? at(n, 0).axis : at(n, 0).axis - 1 + indices));
    return given(axis == 0 && stays_in_its_row(n), dependence::rows(0));
  }

  /// Whether a look-up in [c · batch, ...] reads c · row + j, with j clamped to [0, c): only elements of its own row.
  bool stays_in_its_row(const node& look_up) const {
    const node& sum = in(look_up, 1);
    if (!(at(look_up, 0) == dependence::rows(0)) || sum.op != &ops::add)
      return false;
    const int64_t c = in(look_up, 0).dims[0].coefficient;
    for (const size_t i : {size_t{0}, size_t{1}})
      if (at(sum, i).is == kind::offset && at(sum, i).stride == c && at(sum, 1 - i) == dependence::rows(0)
          && is_within(in(sum, 1 - i), c) && sum.dims[0].coefficient == 1)
        return true;
    return false;
  }

  /// Whether the node is max(min(x, high), low) with bounds in [0, n): the form that `reverse_sequence` builds.
  bool is_within(const node& outer, int64_t n) const {
    const auto bounded = [this](const node& of, const operation& op, auto fits) -> const node* {
      for (const size_t i : {size_t{0}, size_t{1}})
        if (const auto bound = of.op == &op ? number_in(in(of, i)) : std::nullopt; bound && fits(*bound))
          return &in(of, 1 - i);
      return nullptr;
    };
    const auto fits = [n](int64_t bound) { return bound >= 0 && bound < n; };
    const node* inner = bounded(outer, ops::maximum, fits);
    return inner && bounded(*inner, ops::minimum, fits);
  }

  /// The number in every element of an int64 node, if it is a constant of one element or the broadcast of one.
  std::optional<int64_t> number_in(const node& n) const {
    const node& c = n.op == &ops::broadcast_to ? in(n, 0) : n;
    if (c.op != &ops::constant || c.type != dtype::int64)
      return {};
    const auto& value = g_.constants[static_cast<size_t>(c.attr.index)];
    return value.dims().elements() == 1 ? std::optional{value.as<int64_t>()[0]} : std::nullopt;
  }

  /// An offset, if the node is the exclusive cumsum over the batch of one constant number, or its reshape to [batch, 1,
  /// ...].
  dependence offset_of(const node& n) const {
    if (n.op == &ops::reshape && at(n, 0).is == kind::offset)
      return given(n.dims[0].coefficient == 1 && !n.dims[0].known() && product(n.dims.begin() + 1, n.dims.end()) == 1,
                   at(n, 0));
    if (n.op != &ops::cumsum || n.type != dtype::int64 || n.attr.axis != 0 || !n.attr.exclusive || n.attr.reverse
        || n.dims.size() != 1 || n.dims[0].coefficient != 1)
      return dependence::mixed();
    const auto stride = number_in(in(n, 0));
    return stride ? dependence{kind::offset, 0, 1, *stride} : dependence::mixed();
  }

  /// The rows of a node of which an input depends on the batch and whose result has the batch on one axis.
  dependence kept(const node& n) const {
    const operation* op = n.op;
    const auto is = [op](std::initializer_list<const operation*> list) {
      return std::find(list.begin(), list.end(), op) != list.end();
    };
    const auto& a = n.attr;
    const int first = at(n, 0).axis, last = static_cast<int>(n.dims.size()) - 1;
    if (op->elementwise)
      return elementwise(n);
    if (is({&ops::stop_gradient, &ops::check_numerics, &ops::one_hot}))
      return at(n, 0);
    if (is({&ops::softmax, &ops::log_softmax, &ops::normalise_rows, &ops::normalise_rows_gradient}))
      return given(alike(n) && first != last, at(n, 0));
    if (op == &ops::matmul)
      return given(first == 0 && !a.transpose_a && is_free(n, 1), at(n, 0));
    if (op == &ops::batched_matmul)
      return given(alike(n) && first == 0, at(n, 0));
    if (is({&ops::reduce_sum, &ops::reduce_max, &ops::reduce_min, &ops::reduce_prod, &ops::argmax, &ops::argmin}))
      return reduced(n);
    if (is({&ops::cumsum, &ops::product_without, &ops::concat}))
      return given(alike(n) && a.axis != first, at(n, 0));
    if (op == &ops::reshape)
      return reshaped(n);
    if (op == &ops::broadcast_to)
      return along(n, 0);
    if (op == &ops::transpose)
      return moved(n, 0, static_cast<int>(std::find(a.axes.begin(), a.axes.end(), first) - a.axes.begin()));
    if (op == &ops::reverse)
      return given(!has(a.axes, first), at(n, 0));
    const auto axis = static_cast<size_t>(first);
    if (is({&ops::strided_slice, &ops::pad}))
      return given(a.low[axis] == 0 && a.high[axis] == 0 && a.step[axis] == 1, at(n, 0));
    if (op == &ops::tile)
      return given(a.step[axis] == 1, at(n, 0));
    if (op == &ops::gather)
      return gathered(n);
    if (is({&ops::conv2d, &ops::conv2d_image_gradient}))
      return given(first == 0 && is_free(n, 1), at(n, 0));
    if (is({&ops::max_pool, &ops::max_pool_pick, &ops::max_pool_gradient, &ops::average_pool,
            &ops::average_pool_gradient, &ops::sparse_softmax_cross_entropy, &ops::cross_entropy_gradient}))
      return given(alike(n) && first == 0, at(n, 0));
    return dependence::mixed();
  }

  const graph_contents& g_;
  std::vector<dependence> found_;
};

}  // namespace

bool rows_are_apart(const graph& g, std::span<const int32_t> roots) {
  const auto& impl = contents_of(g);
  row_search search{impl};
  std::vector<dependence> found;
  for (size_t i = 0; i < impl.nodes.size(); ++i)
    found.push_back(search.of(i));
  return std::all_of(roots.begin(), roots.end(), [&](int32_t r) {
    const auto at = static_cast<size_t>(r);
    return found[at] == dependence::rows(0) && impl.nodes[at].dims[0].coefficient == 1;
  });
}

}  // namespace troupe
