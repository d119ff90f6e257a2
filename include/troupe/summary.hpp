// Summaries: values that a model records while it trains, with graph::scalar, histogram, image and text.
// They are written to event files, which TensorBoard shows.
// Not needed to begin with.
#pragma once

#include <troupe/tensor.hpp>

namespace troupe {

/// The number of values in each bucket. Bucket i is (limits[i - 1], limits[i]]; the first one has no lower limit, and
/// the last limit is the greatest double.
struct histogram {
  double least = 0;
  double greatest = 0;
  double count = 0;  ///< Number of values in all buckets: the sum of `counts`.
  double sum = 0;
  double sum_of_squares = 0;
  std::vector<double> limits;
  std::vector<double> counts;
  int64_t not_finite = 0;  ///< Number of other values, which no bucket counts; not stored in files.
  friend bool operator==(const histogram&, const histogram&) = default;
};

/// The value of one tag at one step. `what` says which of the fields has it.
struct summary_value {
  enum class kind : uint8_t { scalar, histogram, image, text };
  kind what = kind::scalar;
  std::string tag;
  double scalar = 0;  ///< Stored as float32.
  troupe::histogram histogram = {};
  tensor image = {};      ///< uint8 [height, width, channels], 1 (grey), 3 or 4 channels; stored as PNG.
  std::string text = {};  ///< UTF-8, shown as Markdown.
};
TROUPE_API std::string_view to_string(summary_value::kind k) noexcept;

}  // namespace troupe
