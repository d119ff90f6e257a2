// The update of all variables by one optimizer: the rates, norms and decays of each.
#pragma once

#include "compute/optimizers/update.hpp"
#include "compute/parameters/parameter_store.hpp"

namespace troupe {

/// Planned once; `apply` neither allocates nor locks. One thread at a time, except as `apply` says.
class planned_update {
 public:
  planned_update() = default;
  /// invalid_argument: an optimizer that is not valid, or a layout without its slots.
  static expected<planned_update> of(const optimizer& o, const parameter_layout& layout);

  /// Computes the norms that the update of bytes [slice) needs, from the whole gradient vector, which must be complete.
  /// Each variable's norm is summed in a fixed order of its own, so it has the same bits however the vector is sliced.
  void prepare(std::pair<int64_t, int64_t> slice, const std::byte* gradient);
  /// Updates the prepared slice, or a part of it that begins and ends at a multiple of 64 bytes. Threads may update
  /// different parts at the same time. `rate_factor` multiplies the learning rate of every rule, and weight decay that
  /// is proportional to it.
  void apply(int64_t step, std::pair<int64_t, int64_t> slice, const std::byte* gradient, const std::byte* from,
             std::byte* to, double rate_factor = 1) const;
  /// Whether a slice may be updated in parts: not if a rule uses a variable's own norm.
  bool divides() const noexcept { return !any_needs_whole_variables(optimizer_); }

 private:
  /// Adjacent variables that are updated alike. A variable with a sparse gradient is a segment of its own.
  struct segment {
    size_t range = 0;
    int64_t first = 0, last = 0;  ///< Bytes of the gradient vector.
    double rate_factor = 1, weight_decay = 0, gradient_scale = 1;
    std::optional<sparse_rows> rows;
  };
  struct places {
    const std::byte* gradient;
    const std::byte* from;
    std::byte* to;
  };

  const update_rule& rule_of(const segment& s) const { return rule_at(optimizer_, ranges_[s.range].rule); }
  template <class T>
  double clipped_squares(const segment& s, const std::byte* gradient) const;
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
};

}  // namespace troupe
