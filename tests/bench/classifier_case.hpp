// The classifier that benchmarks of whole jobs use: 784-128-10 under Adam, on made-up images in memory. Public API
// only.
#pragma once

#include <troupe/troupe.hpp>

#include <algorithm>

namespace troupe::bench {

constexpr int64_t image_values = 784, hidden_units = 128, classes = 10, batch_rows = 128;

inline model classifier() {
  return dnn_classifier({.hidden_units = {hidden_units}, .classes = classes, .optimizer = adam{}});
}

/// A dataset of `batches` different batches, repeated without end.
inline dataset made_up_images(int64_t batches) {
  const int64_t rows = batches * batch_rows;
  const auto pixels = allocate_buffer(rows * image_values * 4), labels = allocate_buffer(rows * 4);
  uint32_t state = 1;
  const auto next = [&state] { return (state = state * 1664525u + 1013904223u) >> 8; };
  std::generate_n(reinterpret_cast<float*>(pixels.get()), rows * image_values,
                  [&] { return static_cast<float>(next()) * 0x1p-24f; });
  std::generate_n(reinterpret_cast<int32_t*>(labels.get()), rows,
                  [&] { return static_cast<int32_t>(next() % classes); });
  return dataset::from_tensors({{"pixels", {dtype::float32, {rows, image_values}, pixels}}},
                               {{"label", {dtype::int32, {rows}, labels}}})
      ->batch(batch_rows)
      .repeat();
}

}  // namespace troupe::bench
