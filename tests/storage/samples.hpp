// Sample checkpoints, and helpers that look at a directory after saves.
#pragma once

#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/files/memory_file_system.hpp"
#include "tests/support/checkpoint_ids.hpp"
#include "tests/support/has.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <numeric>

namespace troupe {

using test::has;
using test::temporary_directory;

inline tensor numbers(const shape& dims, float first) {
  std::vector<float> values(static_cast<size_t>(dims.elements()));
  std::iota(values.begin(), values.end(), first);
  return tensor::of<float>(dims, std::span<const float>{values});
}

/// A checkpoint with every dtype, a scalar, an empty tensor, and blobs of arbitrary bytes. The content depends on the
/// step, and some values on the iteration.
inline checkpoint_content sample(int64_t step, int64_t iteration = 0) {
  const auto s = static_cast<float>(step) + static_cast<float>(iteration) / 4;
  return {
      .id = {step, iteration},
      .tensors = {{"dense/kernel", numbers({3, 5}, s)},
                  {"flags", tensor::of<bool>({3}, {true, false, step % 2 == 0})},
                  {"dense/bias", tensor::of<double>({2}, {s, -s})},
                  {"bytes", tensor::of<uint8_t>({5}, {1, 2, 3, 4, static_cast<uint8_t>(step)})},
                  {"counts", tensor::of<int32_t>({2, 1}, {static_cast<int32_t>(step), -1})},
                  {"empty", tensor::zeros(dtype::float32, {0, 4})},
                  {"global_step", tensor::scalar<int64_t>(step)}},
      .blobs = {{"infeed/0", std::string("\0\xff position ", 12) + std::to_string(step)}, {"none", ""}},
      .properties = {{"finished", "false"}, {"numerics_version", "1"}},
      .wall_time = 1.6e9 + 3600 * static_cast<double>(step),
  };
}

inline bool same(const checkpoint_content& a, const checkpoint_content& b) {
  return a.id == b.id && a.blobs == b.blobs && a.properties == b.properties
         && std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(),
                       [](const auto& x, const auto& y) { return x.name == y.name && x.value == y.value; });
}

inline std::unique_ptr<checkpoint_store> open_store(std::shared_ptr<file_system> fs,
                                                    checkpoint_store_options options = {},
                                                    const std::string& directory = "/m") {
  auto store = checkpoint_store::open(std::move(fs), directory, options);
  REQUIRE_MESSAGE(store, (store ? "" : to_text(store.error())));
  return std::move(*store);
}

inline commit_result commit(checkpoint_store& store, int64_t step, int64_t iteration = 0) {
  auto result = store.commit(sample(step, iteration));
  REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
  return std::move(*result);
}

/// Replaces a file as an editor would.
inline void edit(file_system& fs, const std::string& name, std::string_view text) {
  REQUIRE(write_file_atomically(fs, "/m", name, text));
}

inline std::vector<std::string> names_in(file_system& fs, const std::string& directory = "/m") {
  std::vector<std::string> names;
  const auto files = fs.list(directory);
  REQUIRE(files);
  for (const auto& f : *files)
    names.push_back(f.name);
  return names;
}

using steps = std::vector<int64_t>;

}  // namespace troupe
