#include "compute/engine/summaries.hpp"

#include "compute/engine/loss_meter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace troupe {

namespace {

/// Bucket limits, ascending; the last is the greatest double. tensorflow/core/lib/histogram has the same limits.
const std::vector<double>& bucket_limits() {
  static const std::vector<double> limits = [] {
    std::vector<double> positive;
    for (double v = 1e-12; v < 1e20; v *= 1.1)
      positive.push_back(v);
    positive.push_back(std::numeric_limits<double>::max());
    std::vector<double> all;
    for (size_t i = positive.size(); i-- > 0;)
      all.push_back(-positive[i]);
    all.push_back(0);
    all.insert(all.end(), positive.begin(), positive.end());
    return all;
  }();
  return limits;
}

/// Finds the bucket of a value. A table by the first bits of the float (exponent and mantissa) narrows the search to a
/// few limits, so that a value costs nanoseconds.
class bucket_table {
 public:
  bucket_table() : limits_(bucket_limits()) {
    for (uint32_t key = 0; key < first_.size(); ++key) {
      // The float nearest to 0 that begins with the bits of `key`.
      const float least = std::bit_cast<float>(key << shift);
      first_[key] = static_cast<uint16_t>(std::isfinite(least)  ? find(static_cast<double>(least))
                                          : std::signbit(least) ? 0
                                                                : limits_.size() - 1);
    }
  }
  size_t operator()(double value) const {
    const auto key = std::bit_cast<uint32_t>(static_cast<float>(value)) >> shift;
    size_t bucket = first_[key];
    while (bucket > 0 && value <= limits_[bucket - 1])
      --bucket;
    while (value > limits_[bucket])
      ++bucket;
    return bucket;
  }

 private:
  /// Keeps the sign, the exponent and five bits of the mantissa: finer than a bucket.
  static constexpr int shift = 18;
  size_t find(double value) const {
    return static_cast<size_t>(std::lower_bound(limits_.begin(), limits_.end(), value) - limits_.begin());
  }
  const std::vector<double>& limits_;
  std::array<uint16_t, size_t{1} << (32 - shift)> first_{};
};

template <class T>
void count_into(histogram& h, std::span<const T> values) {
  static const bucket_table bucket_of;
  for (const T v : values) {
    const auto x = static_cast<double>(v);
    if (!std::isfinite(x)) {
      ++h.not_finite;
      continue;
    }
    h.least = h.count == 0 ? x : std::min(h.least, x);
    h.greatest = h.count == 0 ? x : std::max(h.greatest, x);
    h.count += 1;
    h.sum += x;
    h.sum_of_squares += x * x;
    h.counts[bucket_of(x)] += 1;
  }
}

double number_in(const tensor& t) {
  return t.type() == dtype::float64 ? t.as<double>()[0] : static_cast<double>(t.as<float>()[0]);
}

/// Image `index` of [n, height, width, channels] as bytes.
tensor image_of(const tensor& images, int64_t index) {
  const tensor one = images.slice(index, 1).reshape(images.dims().inner());
  if (one.type() == dtype::uint8)
    return one;
  std::vector<uint8_t> bytes(static_cast<size_t>(one.elements()));
  for (size_t i = 0; i < bytes.size(); ++i) {
    const double v = one.type() == dtype::float64 ? one.as<double>()[i] : static_cast<double>(one.as<float>()[i]);
    bytes[i] = static_cast<uint8_t>(v >= 0 ? std::lround(std::min(v, 1.0) * 255) : 0);  // NaN becomes 0.
  }
  return tensor::of<uint8_t>(one.dims(), bytes);
}

}  // namespace

histogram histogram_of(std::span<const tensor> parts) {
  histogram h;
  h.limits = bucket_limits();
  h.counts.assign(h.limits.size(), 0);
  for (const auto& t : parts)
    if (t.type() == dtype::float64)
      count_into(h, t.as<double>());
    else
      count_into(h, t.as<float>());
  return h;
}

std::vector<summary_value> summarise(std::span<const summary_recipe> recipes, const recorded_sets& recorded,
                                     bool first) {
  using kind = summary_value::kind;
  std::vector<summary_value> values;
  for (size_t r = 0; r < recipes.size(); ++r) {
    const auto& recipe = recipes[r];
    std::vector<tensor> parts;
    for (const auto& set : recorded)
      for (const auto& x : set)
        if (x.recipe == static_cast<int32_t>(r) && x.value.elements() > 0)
          parts.push_back(x.value);
    if (recipe.what == kind::text) {
      if (first)
        values.push_back({.what = kind::text, .tag = recipe.tag, .text = recipe.text});
    } else if (parts.empty()) {
      continue;
    } else if (recipe.what == kind::scalar) {
      std::vector<double> numbers;
      for (const auto& t : parts)
        numbers.push_back(number_in(t));
      values.push_back({.tag = recipe.tag, .scalar = tree_mean(numbers)});
    } else if (recipe.what == kind::histogram) {
      values.push_back({.what = kind::histogram, .tag = recipe.tag, .histogram = histogram_of(parts)});
    } else {
      for (int64_t i = 0; i < parts.front().dims()[0]; ++i)
        values.push_back({.what = kind::image,
                          .tag = recipe.tag + "/image/" + std::to_string(i),
                          .image = image_of(parts.front(), i)});
    }
  }
  return values;
}

double learning_rate(const optimizer& o, int64_t step) { return rate_at(o, std::max<int64_t>(step, 1) - 1); }

}  // namespace troupe
