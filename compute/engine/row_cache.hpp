// Keeps what a retired group exposes, row by row of the source, so that each row is computed once.
#pragma once

#include "compute/engine/step_engine.hpp"

namespace troupe {

struct row_cache_options {
  /// Exposes the components of the cached engine and, last, `extra` more. Its outputs must depend on the row alone
  /// (`rows_are_apart`), and it must apply no updates: only `expose` uses the cache.
  std::unique_ptr<step_engine> computed;
  size_t extra = 0;
  /// Computes the loss of a batch from the batch and from the exposed component `loss_reads`, which it reads last.
  std::unique_ptr<step_engine> loss;
  size_t loss_reads = 0;
  size_t rows_component = 0;  ///< The component of a batch with the source rows, int64 [].
  int64_t source_rows = 0;    ///< Rows of the source.
};

/// The memory that the rows of all exposed components take, with `source_rows` of each.
int64_t row_cache_bytes(std::span<const component> exposed, int64_t source_rows);

/// An engine with the bits of `computed`. A batch whose rows are all kept costs their copies and the loss; a batch with
/// a missing row is computed whole. Loading values empties the cache. A step whose example has a row that the source
/// does not have is bad input (invalid_argument). Error: resource_exhausted, if there is no memory for the rows.
expected<std::unique_ptr<step_engine>> make_cached_engine(row_cache_options options);

}  // namespace troupe
