// Summaries: values that a model records while it trains, by graph::scalar, histogram, image and text in `model_fn`.
// They are kept in event files, which TensorBoard shows.
// Not needed to begin with.
#pragma once

#include <troupe/tensor.hpp>

namespace troupe {

/// How often values fell into each bucket. Bucket i holds (limits[i - 1], limits[i]]; the first has no lower limit, the
/// last limit is the greatest double.
struct histogram {
  double least = 0;
  double greatest = 0;
  double count = 0;           ///< Number of values in buckets: the sum of `counts`.
  double sum = 0;
  double sum_of_squares = 0;
  std::vector<double> limits;
  std::vector<double> counts;
  int64_t not_finite = 0;     ///< Values that no bucket holds; not kept in event files.
  friend bool operator==(const histogram&, const histogram&) = default;
};

/// One tag's value at one step.
struct summary_value {
  enum class kind : uint8_t { scalar, histogram, image, text };
  kind what = kind::scalar;
  std::string tag;
  double scalar = 0;                  ///< scalar; kept as float32.
  troupe::histogram histogram = {};
  tensor image = {};                  ///< image: uint8 [height, width, channels], 1 (grey), 3 or 4 channels; kept as PNG.
  std::string text = {};              ///< text: UTF-8, shown as Markdown.
};
TROUPE_API std::string_view to_string(summary_value::kind k) noexcept;

}  // namespace troupe
