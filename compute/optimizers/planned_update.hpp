// The update of all variables by one optimizer: which rates, norms and decays hold where.
#pragma once

#include "compute/optimizers/update.hpp"
#include "compute/parameter_store.hpp"

namespace troupe {

/// Planned once; applying it neither allocates nor locks. One thread at a time.
class planned_update {
 public:
  planned_update() = default;
  /// invalid_argument: an optimizer that is not valid, or a layout without its slots.
  static expected<planned_update> of(const optimizer& o, const parameter_layout& layout);

  /// Bytes [slice) of the gradient vector, of which all is there: norms are of whole variables, each added up in an order of its
  /// own, so that they have the same bits however the vector is sliced.
  void apply(int64_t step, std::pair<int64_t, int64_t> slice, const std::byte* gradient, const std::byte* from, std::byte* to);

 private:
  /// Variables that follow each other and are updated alike.
  struct segment {
    size_t run = 0;
    int64_t first = 0, last = 0;  ///< Bytes of the gradient vector.
    double rate_factor = 1, weight_decay = 0, gradient_scale = 1;
  };

  void measure(std::pair<int64_t, int64_t> slice, const std::byte* gradient);
  template <class T>
  void apply_to(const segment& s, update_terms terms, int64_t first, int64_t last, const std::byte* gradient, const std::byte* from, std::byte* to) const;

  optimizer optimizer_;
  std::vector<gradient_run> runs_;
  std::vector<segment> segments_;
};

}  // namespace troupe
