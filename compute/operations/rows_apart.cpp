// Whether the rows of a batch are computed apart from each other, by induction over the nodes.
//
// A value has rows when its first axis is c times the batch, and elements of the c indices that begin at c·i depend on row i of the inputs
// alone. Since values are dense and the first axis is the outermost, a reshape that keeps the batch in it keeps the rows.
#include "compute/graph/operation.hpp"
#include "compute/operations/stored_graph.hpp"

#include <algorithm>

namespace troupe {
namespace {

enum class dependence : uint8_t {
  none,   ///< The same value for every batch.
  rows,
  mixed,  ///< Any other.
};

class row_search {
 public:
  explicit row_search(const graph::impl& g) : g_(g), found_(g.nodes.size(), dependence::mixed) {}

  dependence of(size_t i) {
    found_[i] = look(g_.nodes[i]);
    return found_[i];
  }

 private:
  bool starts_with_batch(const symbol_shape& dims) const {
    return !dims.empty() && !dims.front().known() && g_.unknowns[static_cast<size_t>(dims.front().unknown)] == "batch"
           && std::all_of(dims.begin() + 1, dims.end(), [](const extent& e) { return e.known(); });
  }
  const node& in(const node& n, size_t i) const { return g_.nodes[static_cast<size_t>(n.inputs[i])]; }
  dependence at(const node& n, size_t i) const { return found_[static_cast<size_t>(n.inputs[i])]; }
  bool has_rows(const node& n, size_t i) const { return at(n, i) == dependence::rows; }
  bool is_free(const node& n, size_t i) const { return at(n, i) == dependence::none; }
  bool all(const node& n, dependence d) const {
    for (size_t i = 0; i < n.inputs.size(); ++i)
      if (at(n, i) != d)
        return false;
    return true;
  }

  dependence look(const node& n) const {
    if (n.op == &ops::variable || n.op == &ops::constant)
      return dependence::none;
    const bool batched = starts_with_batch(n.dims);
    if (n.op == &ops::placeholder)
      return batched && n.dims.front().coefficient == 1 ? dependence::rows : dependence::mixed;
    if (std::any_of(n.attr.per.begin(), n.attr.per.end(), [](const extent& e) { return !e.known(); }))
      return dependence::mixed;  // The number of rows is part of the value.
    if (all(n, dependence::none)) {
      const bool known = std::all_of(n.dims.begin(), n.dims.end(), [](const extent& e) { return e.known(); });
      return known ? dependence::none : batched && n.op == &ops::broadcast_to ? dependence::rows : dependence::mixed;
    }
    return batched && keeps_rows(n) ? dependence::rows : dependence::mixed;
  }

  /// The operand has rows, and they are those of the result.
  bool same_first_axis(const node& n, size_t i) const { return has_rows(n, i) && in(n, i).dims.size() == n.dims.size() && in(n, i).dims[0] == n.dims[0]; }

  bool leaves_first_axis(const attributes& a) const { return std::find(a.axes.begin(), a.axes.end(), 0) == a.axes.end(); }

  /// For a node of which an input depends on the batch, and whose first axis alone is of it.
  bool keeps_rows(const node& n) const {
    const operation* op = n.op;
    const auto is = [op](std::initializer_list<const operation*> list) { return std::find(list.begin(), list.end(), op) != list.end(); };
    const auto& a = n.attr;
    if (op->elementwise) {
      for (size_t i = 0; i < n.inputs.size(); ++i)
        if (!is_free(n, i) && !same_first_axis(n, i))
          return false;
      return true;
    }
    if (is({&ops::stop_gradient, &ops::check_numerics, &ops::one_hot}))
      return all(n, dependence::rows);
    if (is({&ops::softmax, &ops::log_softmax, &ops::normalise_rows, &ops::normalise_rows_gradient}))
      return n.dims.size() > 1 && all(n, dependence::rows);
    if (op == &ops::matmul)
      return has_rows(n, 0) && !a.transpose_a && is_free(n, 1);
    if (op == &ops::batched_matmul)
      return all(n, dependence::rows);
    if (is({&ops::reduce_sum, &ops::reduce_max, &ops::reduce_min, &ops::reduce_prod, &ops::argmax, &ops::argmin}))
      return has_rows(n, 0) && leaves_first_axis(a);
    if (is({&ops::cumsum, &ops::product_without, &ops::concat}))
      return all(n, dependence::rows) && a.axis != 0;
    if (op == &ops::reshape)
      return has_rows(n, 0);
    if (op == &ops::broadcast_to)
      return same_first_axis(n, 0);
    if (op == &ops::transpose)
      return has_rows(n, 0) && a.axes[0] == 0;
    if (op == &ops::reverse)
      return has_rows(n, 0) && leaves_first_axis(a);
    if (is({&ops::strided_slice, &ops::pad}))
      return has_rows(n, 0) && a.low[0] == 0 && a.high[0] == 0 && a.step[0] == 1;
    if (op == &ops::tile)
      return has_rows(n, 0) && a.step[0] == 1;
    if (op == &ops::gather)
      return a.axis == 0 ? is_free(n, 0) && has_rows(n, 1) : has_rows(n, 0) && is_free(n, 1);
    if (is({&ops::conv2d, &ops::conv2d_image_gradient}))
      return has_rows(n, 0) && is_free(n, 1);
    if (is({&ops::max_pool, &ops::max_pool_pick, &ops::max_pool_gradient, &ops::average_pool, &ops::average_pool_gradient}))
      return all(n, dependence::rows);
    if (is({&ops::sparse_softmax_cross_entropy, &ops::cross_entropy_gradient}))
      return all(n, dependence::rows);
    return false;
  }

  const graph::impl& g_;
  std::vector<dependence> found_;
};

}  // namespace

bool rows_are_apart(const graph& g, std::span<const int32_t> roots) {
  const auto& impl = g.internals();
  row_search search{impl};
  std::vector<dependence> found;
  for (size_t i = 0; i < impl.nodes.size(); ++i)
    found.push_back(search.of(i));
  return std::all_of(roots.begin(), roots.end(), [&](int32_t r) {
    const auto at = static_cast<size_t>(r);
    return found[at] == dependence::rows && impl.nodes[at].dims[0].coefficient == 1;
  });
}

}  // namespace troupe
