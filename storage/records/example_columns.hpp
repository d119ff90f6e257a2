// Reads examples as rows of fixed size: the named features of each go directly into a batch.
#pragma once

#include <troupe/dataset.hpp>

namespace troupe {

/// Used by one thread at a time.
class example_columns {
 public:
  /// Error: invalid_argument naming the feature, for extents that are negative or too large, or an unsupported dtype.
  /// float32 reads a list of floats, int32 and int64 read integers, uint8 reads one string of bytes.
  static expected<example_columns> of(std::vector<component> columns);
  ~example_columns();
  example_columns(example_columns&&) noexcept;
  example_columns& operator=(example_columns&&) noexcept;

  /// Writes one row of each column. Errors: data_loss: `payload` is not an example; invalid_argument naming the
  /// feature, the value found and the one expected: the feature is missing, has another kind or size, or an integer
  /// that does not fit int32.
  expected<void> read(std::string_view payload, std::span<std::byte* const> into);

 private:
  struct impl;
  explicit example_columns(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe
