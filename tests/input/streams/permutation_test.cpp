#include "input/streams/permutation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace troupe::input {

namespace {

std::vector<int64_t> image(uint64_t key, int64_t size) {
  const permutation p{key, size};
  std::vector<int64_t> all;
  for (int64_t i = 0; i < size; ++i)
    all.push_back(p(i));
  return all;
}

/// The statistic Σ (seen - expected)² / expected.
double chi_square(const std::vector<int64_t>& seen, double expected) {
  double sum = 0;
  for (int64_t n : seen)
    sum += (static_cast<double>(n) - expected) * (static_cast<double>(n) - expected) / expected;
  return sum;
}

}  // namespace

TEST_CASE("a keyed permutation reaches every index once, for any size and key") {
  for (int64_t size : {1, 2, 3, 4, 5, 15, 16, 17, 31, 100, 127, 128, 129, 1000, 4097, 60000})
    for (uint64_t key : {0u, 1u, 77u}) {
      CAPTURE(size);
      const auto all = image(key, size);
      CHECK(std::set<int64_t>(all.begin(), all.end()).size() == static_cast<std::size_t>(size));
      CHECK(*std::max_element(all.begin(), all.end()) == size - 1);
    }
}

TEST_CASE("many at once go where each goes alone") {
  for (int64_t size : {70, 129, 60000}) {
    const permutation p{5, size};
    std::vector<int64_t> together(static_cast<std::size_t>(size - 3));
    p.apply(3, together);
    bool same = true;
    for (std::size_t i = 0; i < together.size(); ++i)
      same = same && together[i] == p(static_cast<int64_t>(i) + 3);
    CHECK(same);
  }
}

TEST_CASE("a permutation of more elements than memory holds stays in its range and is not the identity") {
  constexpr int64_t size = (int64_t{1} << 62) + 12345;
  const permutation p{5, size};
  for (int64_t i : {int64_t{0}, int64_t{1} << 33, size - 1}) {
    CHECK(p(i) >= 0);
    CHECK(p(i) < size);
    CHECK(p(i) != i);
  }
}

TEST_CASE("over many keys, every example comes to every position equally often") {
  constexpr int64_t size = 50;
  constexpr int64_t keys = 20000;
  for (int64_t position : {0, 1, 24, 25, 49}) {
    std::vector<int64_t> seen(size);
    for (int64_t key = 0; key < keys; ++key)
      ++seen[static_cast<std::size_t>(permutation{static_cast<uint64_t>(key), size}(position))];
    // With 49 degrees of freedom, 98 is exceeded by chance once in fifty thousand cases.
    CHECK(chi_square(seen, static_cast<double>(keys) / size) < 98);
  }
}

TEST_CASE("over many keys, neighbours go to every pair of positions equally often") {
  constexpr int64_t size = 12;
  constexpr int64_t keys = 66000;
  for (int64_t position : {0, 5, 10}) {
    std::vector<int64_t> seen(size * size);
    for (int64_t key = 0; key < keys; ++key) {
      const permutation p{static_cast<uint64_t>(key), size};
      ++seen[static_cast<std::size_t>(p(position) * size + p(position + 1))];
    }
    std::vector<int64_t> pairs;
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (i / size != i % size)
        pairs.push_back(seen[i]);
    // With 131 degrees of freedom, 205 is exceeded by chance once in thirty thousand cases.
    CHECK(chi_square(pairs, static_cast<double>(keys) / (size * (size - 1))) < 205);
  }
}

TEST_CASE("all 120 orders of five examples appear equally often") {
  constexpr int64_t keys = 120000;
  std::map<std::vector<int64_t>, int64_t> orders;
  for (uint64_t key = 0; key < keys; ++key)
    ++orders[image(key, 5)];
  CHECK(orders.size() == 120);
  std::vector<int64_t> seen;
  for (const auto& [order, n] : orders)
    seen.push_back(n);
  // With 119 degrees of freedom, 190 is exceeded by chance once in thirty thousand cases.
  CHECK(chi_square(seen, keys / 120.0) < 190);
}

TEST_CASE("a permutation of sixty thousand keeps about one neighbour together") {
  const auto all = image(7, 60000);
  int kept = 0;
  for (std::size_t i = 1; i < all.size(); ++i)
    kept += all[i] == all[i - 1] + 1;
  CHECK(kept < 10);
}

}  // namespace troupe::input
