// The classifier that whole jobs are measured with: 784-128-10 under Adam, on made-up images in memory. Public API only.
#pragma once

#include <troupe/troupe.hpp>

#include <algorithm>
#include <vector>

namespace troupe::bench {

constexpr int64_t image_values = 784, hidden_units = 128, classes = 10, batch_rows = 128;

inline model classifier() {
  return dnn_classifier({.hidden_units = {hidden_units}, .classes = classes, .optimizer = adam{}});
}

/// `batches` batches, again and again.
inline dataset made_up_images(int64_t batches) {
  const int64_t rows = batches * batch_rows;
  std::vector<float> pixels(static_cast<size_t>(rows * image_values));
  std::vector<int32_t> labels(static_cast<size_t>(rows));
  uint32_t state = 1;
  const auto next = [&state] { return (state = state * 1664525u + 1013904223u) >> 8; };
  std::generate(pixels.begin(), pixels.end(), [&] { return static_cast<float>(next()) * 0x1p-24f; });
  std::generate(labels.begin(), labels.end(), [&] { return static_cast<int32_t>(next() % classes); });
  return dataset::from_tensors({{"pixels", tensor::of<float>({rows, image_values}, pixels)}}, {{"label", tensor::of<int32_t>({rows}, labels)}})
    ->batch(batch_rows).repeat();
}

}  // namespace troupe::bench
