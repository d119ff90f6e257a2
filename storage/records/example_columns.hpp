// Examples as rows of fixed size: the named features of each are read directly into a batch.
#pragma once

#include <troupe/dataset.hpp>

namespace troupe {

/// Used by one thread at a time.
class example_columns {
 public:
  /// invalid_argument: a dtype other than float32 (of a list of floats), int32, int64 (of integers) and uint8 (of one string
  /// of bytes), or extents that are negative or too large, naming the feature.
  static expected<example_columns> of(std::vector<component> columns);
  ~example_columns();
  example_columns(example_columns&&) noexcept;
  example_columns& operator=(example_columns&&) noexcept;

  /// Writes one row of each column. data_loss: not an example. invalid_argument naming the feature, the value found and
  /// the one expected: it is missing, of another kind, of another size, or has an integer that int32 cannot hold.
  expected<void> read(std::string_view payload, std::span<std::byte* const> into);

 private:
  struct impl;
  explicit example_columns(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe
