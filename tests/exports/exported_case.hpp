// A small model that is trained for a few steps, and its exports.
#pragma once

#include "exports/surroundings.hpp"
#include "input/streams/open_input.hpp"
#include "tests/estimator/small_start.hpp"

#include <troupe/exported_model.hpp>
#include <troupe/predict.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

/// A model directory with a checkpoint of step 3.
struct exported_case {
  temporary_directory directory;
  estimator e = small_estimator(directory / "run");
  export_options how{.input = small_dataset().batch(4)};

  exported_case() {
    const auto trained = train(e, small_training(3));
    REQUIRE_MESSAGE(trained, why(trained));
  }
  std::string checkpoint() const { return *find_checkpoint(*e.config.model_dir); }
  std::string written() {
    const auto path = export_model(e, how);
    REQUIRE_MESSAGE(path, why(path));
    return *path;
  }
};

inline exported_model opened(const std::string& path) {
  auto m = exported_model::open(path);
  REQUIRE_MESSAGE(m, why(m));
  return *m;
}

/// The predictions for a whole dataset, read in batches of `rows` rows: for each output, one tensor for each row.
inline std::map<std::string, std::vector<tensor>> predicted(const estimator& e, const dataset& data, int64_t rows) {
  auto stream = predict(e, {.input = data.batch(rows)});
  REQUIRE_MESSAGE(stream, why(stream));
  std::map<std::string, std::vector<tensor>> all;
  for (const auto& one : *stream)
    for (const auto& [name, value] : one.values)
      all[name].push_back(value);
  REQUIRE_MESSAGE(stream->status(), why(stream->status()));
  return all;
}

/// The features of the first `rows` rows of `small_dataset`.
inline tensor small_rows(int64_t rows) {
  const auto data = small_dataset();
  auto iterator = open_input(data.batch(48), {});
  REQUIRE_MESSAGE(iterator, why(iterator));
  auto x = allocate_buffer(48 * 8 * 4), y = allocate_buffer(48 * 4);
  std::byte* into[] = {x.get(), y.get()};
  REQUIRE((*iterator)->read(into, {}));
  return tensor{dtype::float32, {48, 8}, x}.slice(0, rows);
}

}  // namespace troupe::test
