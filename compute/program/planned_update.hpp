// The update of all variables by one optimizer: the rates, norms and decays of each.
#pragma once

#include "compute/optimizers/update.hpp"
#include "compute/parameters/flat_gradient.hpp"

namespace troupe {

/// Planned once; `apply` neither allocates nor locks. One thread at a time, except as `apply` says.
class planned_update {
 public:
  planned_update() = default;
  /// invalid_argument: an optimizer that is not valid, or a layout without its slots.
  static expected<planned_update> of(const optimizer& o, const parameter_layout& layout);

  /// How many sums of squares clipping by norm needs, one for each chunk (norms.hpp) of each variable; 0 without it.
  /// They are added in a fixed order, so that a norm has the same bits however the gradient is sliced.
  int64_t norm_chunks() const noexcept { return norm_chunks_; }
  /// Bytes of a gradient vector without the bits of touched rows, which follow.
  int64_t flat_bytes() const noexcept { return flat_bytes_; }
  /// Writes the sums of the chunks that begin in bytes [slice) of the gradient vector, whole lines of 64 bytes, which
  /// must be complete; a chunk that ends beyond them is left to `prepare`. Threads may measure different slices at the
  /// same time.
  void measure(std::pair<int64_t, int64_t> slice, gradient_view gradient, std::span<double> squares) const;
  /// Computes by how much `apply` scales each variable's gradient, from `squares`, which slices of the whole gradient
  /// vector were measured to. Not needed without chunks.
  void prepare(gradient_view gradient, std::span<const double> squares);
  /// Updates bytes [slice), which begin and end at a multiple of 64. Threads may update different slices at the same
  /// time. `rate_factor` multiplies the learning rate of every rule, and weight decay that
  /// is proportional to it.
  void apply(int64_t step, std::pair<int64_t, int64_t> slice, const std::byte* gradient, const std::byte* from,
             std::byte* to, double rate_factor = 1) const;
  /// Whether a slice may be updated in parts: not if a rule uses a variable's own norm.
  bool divides() const noexcept { return !any_needs_whole_variables(optimizer_); }

 private:
  /// Adjacent variables that are updated alike. A variable with a sparse gradient is a segment of its own.
  struct segment {
    size_t range = 0;
    int64_t first = 0, last = 0;               ///< Bytes of the gradient vector.
    int64_t chunk_bytes = 0, first_chunk = 0;  ///< Of its norm: the size of its chunks, and the index of the first.
    double rate_factor = 1, weight_decay = 0, gradient_scale = 1;
    std::optional<sparse_rows> rows;
  };
  struct places {
    const std::byte* gradient;
    const std::byte* from;
    std::byte* to;
  };

  const update_rule& rule_of(const segment& s) const { return rule_at(optimizer_, ranges_[s.range].rule); }
  double chunk_squares(const segment& s, int64_t first, int64_t last, gradient_view gradient) const;
  template <class T>
  double clipped_squares(const segment& s, int64_t first, int64_t last, gradient_view gradient) const;
  /// The whole lines of 64 bytes [first, last) as a range to update.
  template <class T>
  update_range<T> range(const segment& s, int64_t first, int64_t last, const places& at) const;
  template <class T>
  void apply_to(const segment& s, const update_terms& terms, int64_t first, int64_t last, const places& at) const;
  template <class T>
  void apply_to_rows(const segment& s, const update_terms& terms, int64_t first, int64_t last, places at) const;
  /// Updates elements that may begin and end within a line. The other elements of the line must not change.
  template <class T, class Rule>
  void apply_to_elements(const Rule& rule, const segment& s, const update_terms& terms, int64_t first, int64_t last,
                         const places& at) const;

  optimizer optimizer_;
  std::vector<gradient_range> ranges_;
  std::vector<segment> segments_;
  int64_t norm_chunks_ = 0;
  int64_t flat_bytes_ = 0;
};

}  // namespace troupe
