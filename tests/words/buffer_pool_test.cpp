#include "words/buffer_pool.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>

namespace troupe::test {

TEST_CASE("a buffer that its last holder lets go is handed out again, for sizes that are not much smaller too") {
  buffer_pool pool;
  const auto* first = pool.take(1'000'000).get();
  CHECK(pool.take(1'000'000).get() == first);
  CHECK(pool.take(940'000).get() == first);
  auto held = pool.take(600'000);
  CHECK(held.get() == first);
  const auto other = pool.take(600'000);
  CHECK(other.get() != first);
  held.reset();
  CHECK_MESSAGE(pool.take(1'000).get() != first, "a number does not hold a megabyte");
  CHECK_MESSAGE(pool.take(1'200'000).get() != first, "it would not fit");
}

TEST_CASE("a pool gives another buffer while earlier ones are kept, and kept ones hold their contents") {
  buffer_pool pool{4};
  std::vector<tensor> kept;
  for (int32_t i = 0; i < 100; ++i) {
    const std::vector<int32_t> values(2'000, i);
    kept.push_back(pool.copy_of(dtype::int32, {2'000}, std::as_bytes(std::span{values})));
  }
  std::set<const std::byte*> places;
  for (int32_t i = 0; i < 100; ++i) {
    places.insert(kept[static_cast<size_t>(i)].data());
    CHECK(kept[static_cast<size_t>(i)] == tensor::of<int32_t>({2'000}, std::vector<int32_t>(2'000, i)));
  }
  CHECK(places.size() == 100);
  kept.erase(kept.begin() + 1, kept.end());
  for (int32_t i = 0; i < 10; ++i) {
    const auto again = pool.take(8'000);
    CHECK_MESSAGE(again.get() != kept.front().data(), "that one is still held");
    CHECK_MESSAGE(places.contains(again.get()), "the others have come back");
  }
  CHECK(kept.front() == tensor::of<int32_t>({2'000}, std::vector<int32_t>(2'000, 0)));
}

TEST_CASE("buffers outlive their pool") {
  std::shared_ptr<std::byte> buffer;
  {
    buffer_pool pool;
    buffer = pool.take(200'000);
  }
  std::memset(buffer.get(), 1, 200'000);
  CHECK(buffer.get()[199'999] == std::byte{1});
}

TEST_CASE("a pool keeps no more than it was told to, and lets go of sizes that nobody asks for any more") {
  buffer_pool pool{2};
  std::vector<std::shared_ptr<std::byte>> three{pool.take(100'000), pool.take(100'000), pool.take(100'000)};
  std::vector<std::weak_ptr<std::byte>> watched{three.begin(), three.end()};
  std::set<const std::byte*> places;
  for (const auto& b : three)
    places.insert(b.get());
  three.clear();
  const auto a = pool.take(100'000), b = pool.take(100'000);
  CHECK(places.contains(a.get()));
  CHECK(places.contains(b.get()));
}

TEST_CASE("a buffer is aligned to 64 bytes and its own from end to end, whatever its size") {
  std::vector<std::pair<std::shared_ptr<std::byte>, size_t>> all;
  for (const int64_t bytes : {0, 1, 63, 64, 65, 4'096, 131'071, 131'072, 131'073, 3'000'000}) {
    auto buffer = allocate_buffer(bytes);
    REQUIRE(buffer);
    CHECK(reinterpret_cast<uintptr_t>(buffer.get()) % 64 == 0);
    std::memset(buffer.get(), static_cast<int>(all.size()), static_cast<size_t>(bytes));
    all.emplace_back(std::move(buffer), static_cast<size_t>(bytes));
  }
  for (size_t i = 0; i < all.size(); ++i)
    CHECK(std::all_of(all[i].first.get(), all[i].first.get() + all[i].second,
                      [i](std::byte b) { return b == static_cast<std::byte>(i); }));
}

TEST_CASE("a request for more memory than any machine has gives null, from a pool too") {
  for (const int64_t bytes : {int64_t{-1}, INT64_MIN, INT64_MAX, int64_t{1} << 50}) {
    CHECK(allocate_buffer(bytes) == nullptr);
    CHECK(buffer_pool{}.take(bytes) == nullptr);
  }
}

}  // namespace troupe::test
