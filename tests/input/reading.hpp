// Datasets of numbered examples, and the ids that their iterators read.
#pragma once

#include <troupe/dataset_iterator.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

namespace troupe {

using batches = std::vector<std::vector<int64_t>>;

/// A dataset with the feature "id": 0, 1, 2 and so on as int64.
inline dataset numbered(int64_t count) {
  std::vector<int64_t> ids(static_cast<size_t>(count));
  std::iota(ids.begin(), ids.end(), int64_t{0});
  auto made = dataset::from_tensors({{"id", tensor::of<int64_t>({count}, ids)}});
  REQUIRE(made);
  return *made;
}

/// The same ids from a source that is read only in order, and whose position can be saved.
inline dataset numbered_stream(int64_t count, std::string name = "ids") {
  auto made = dataset::from_generator(
      {.features = {{.name = "id", .type = dtype::int64}}},
      [count] {
        const auto next = std::make_shared<int64_t>(0);
        return example_stream{.next = [next, count]() -> std::optional<example_tensors> {
                                if (*next == count)
                                  return {};
                                return example_tensors{.features = {{"id", tensor::scalar((*next)++)}}};
                              },
                              // The saved bytes look like lines.
                              .save = [next] { return std::string(static_cast<size_t>(*next), '\n'); },
                              .restore = [next](std::string_view position) -> expected<void> {
                                *next = static_cast<int64_t>(position.size());
                                return {};
                              }};
      },
      std::move(name));
  REQUIRE(made);
  return *made;
}

inline std::unique_ptr<dataset_iterator> iterate(const dataset& d, const iterate_options& options = {}) {
  auto it = d.last_stage()->iterate(options);
  REQUIRE_MESSAGE(it.has_value(), (it ? "" : to_text(it.error())));
  return std::move(*it);
}

/// The ids of the next batch; empty at the end of the data.
inline std::vector<int64_t> next(dataset_iterator& it) {
  std::vector<int64_t> ids(static_cast<size_t>(it.batch_rows()));
  std::byte* into[] = {reinterpret_cast<std::byte*>(ids.data())};
  auto rows = it.read(into, {});
  if (!rows)
    REQUIRE(rows.error().category == errc::out_of_range);
  ids.resize(rows ? static_cast<size_t>(*rows) : 0);
  return ids;
}

/// Reads at most `most` batches.
inline batches read(dataset_iterator& it, size_t most = 1000) {
  batches all;
  while (all.size() < most) {
    auto one = next(it);
    if (one.empty())
      break;
    all.push_back(std::move(one));
  }
  return all;
}

inline batches read(const dataset& d, const iterate_options& options = {}, size_t most = 1000) {
  auto it = iterate(d, options);
  return read(*it, most);
}

inline std::vector<int64_t> flat(const batches& all) {
  std::vector<int64_t> ids;
  for (const auto& one : all)
    ids.insert(ids.end(), one.begin(), one.end());
  return ids;
}

inline std::vector<int64_t> counting(int64_t first, int64_t last) {
  std::vector<int64_t> ids(static_cast<size_t>(last - first));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

inline std::vector<int64_t> sorted(std::vector<int64_t> ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// The error that `iterate` returns.
inline error refusal(const dataset& d, const iterate_options& options = {}) {
  auto it = d.last_stage()->iterate(options);
  REQUIRE_FALSE(it);
  return it.error();
}

inline bool names(const error& e, std::string_view what) { return to_text(e).find(what) != std::string::npos; }

}  // namespace troupe
