#include "reading.hpp"

namespace troupe {

namespace {

/// Reads windows of `size` ids; each row of a batch is one window.
batches windows(const dataset& d, int64_t size, const iterate_options& options = {}, size_t most = 1000) {
  auto it = iterate(d, options);
  batches all;
  while (all.size() < most) {
    std::vector<int64_t> ids(static_cast<size_t>(it->batch_rows() * size));
    std::byte* into[] = {reinterpret_cast<std::byte*>(ids.data())};
    const auto rows = it->read(into, {});
    if (!rows) {
      CHECK(rows.error().category == errc::out_of_range);
      break;
    }
    for (int64_t r = 0; r < *rows; ++r)
      all.emplace_back(ids.begin() + r * size, ids.begin() + (r + 1) * size);
  }
  return all;
}

}  // namespace

TEST_CASE("windows overlap, touch or leave gaps by their shift, and one that the end cuts off is left out") {
  CHECK(windows(numbered(5).window(3, 1), 3) == batches{{0, 1, 2}, {1, 2, 3}, {2, 3, 4}});
  CHECK(windows(numbered(7).window(3, 3), 3) == batches{{0, 1, 2}, {3, 4, 5}});
  CHECK(windows(numbered(9).window(2, 4), 2) == batches{{0, 1}, {4, 5}});
  CHECK(windows(numbered(3).window(3, 2), 3) == batches{{0, 1, 2}});
  CHECK(numbered(9).window(2, 4).source_size() == 2);
  CHECK(numbered(7).window(3, 3).last_stage()->elements(false) == 2);
}

TEST_CASE("windows that lie one after the other are lent, in the shape of windows; others are read") {
  const auto lent = iterate(numbered(14).window(3, 3).batch(2))->lend(5);
  REQUIRE(lent);
  CHECK(lent->count == 2);
  REQUIRE(lent->components.size() == 1);
  CHECK(lent->components[0] == tensor::of<int64_t>({4, 3}, std::span<const int64_t>{counting(0, 12)}));
  for (const auto& apart : {numbered(14).window(3, 1), numbered(14).window(2, 4)})
    CHECK(iterate(apart.batch(2))->lend(5)->count == 0);
}

TEST_CASE("a window is an axis before those of a component, and a batch one before it") {
  const auto d = numbered(6).window(3, 1).batch(2);
  CHECK(d.spec().features.front().dims == shape{3});
  CHECK(d.to_text() == "tensors -> window(3, 1) -> batch(2)");
  auto it = iterate(d);
  CHECK(it->batch_rows() == 2);
  CHECK(windows(d, 3) == batches{{0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4, 5}});
  // The last batch has one window.
  CHECK(windows(numbered(7).window(3, 1).batch(2), 3).size() == 5);
  CHECK(windows(numbered(7).window(3, 1).batch(2), 3, {.drop_remainder = true}).size() == 4);
}

TEST_CASE("windows are shuffled whole, and those of take and skip stay within them") {
  auto shuffled = windows(numbered(12).window(4, 1).shuffle(5), 4);
  CHECK(shuffled != windows(numbered(12).window(4, 1), 4));
  std::sort(shuffled.begin(), shuffled.end());
  CHECK(shuffled == windows(numbered(12).window(4, 1), 4));
  CHECK(windows(numbered(8).take(3).window(2, 1), 2) == batches{{0, 1}, {1, 2}});
  CHECK(windows(numbered(8).skip(5).window(2, 1), 2) == batches{{5, 6}, {6, 7}});
}

TEST_CASE("windows of windows") {
  const auto d = numbered(5).window(2, 1).window(2, 2);
  CHECK(d.spec().features.front().dims == shape{2, 2});
  CHECK(windows(d, 4) == batches{{0, 1, 1, 2}, {2, 3, 3, 4}});
}

TEST_CASE("a reader of windows goes on from a saved position, and refuses that of other windows") {
  const auto d = numbered(20).window(4, 1).shuffle(2).batch(3).repeat();
  auto whole = iterate(d), broken = iterate(d);
  std::vector<int64_t> a(12), b(12);
  std::byte* into[] = {reinterpret_cast<std::byte*>(a.data())};
  std::byte* other[] = {reinterpret_cast<std::byte*>(b.data())};
  for (int i = 0; i < 7; ++i)
    REQUIRE(whole->read(into, {}));
  const auto state = whole->save();
  REQUIRE(state);
  REQUIRE(broken->restore(*state));
  REQUIRE(whole->read(into, {}));
  REQUIRE(broken->read(other, {}));
  CHECK(a == b);
  const auto refused = iterate(numbered(20).window(4, 2).shuffle(2).batch(3).repeat())->restore(*state);
  REQUIRE_FALSE(refused);
  CHECK(names(refused.error(), "was saved by 'window(4, 1)', here is 'window(4, 2)'"));
}

TEST_CASE("windows that cannot be are refused, saying why") {
  CHECK(names(refusal(numbered(8).window(0, 1)), "not 0 and 1"));
  CHECK(names(refusal(numbered(8).window(2, -1)), "not 2 and -1"));
  CHECK(names(refusal(numbered(8).window(9, 1)), "window(9, 1) leaves nothing of the 8 elements before it"));
  CHECK(names(refusal(numbered(8).batch(2).window(2, 1)), "window(2, 1) follows batch(2)"));
  CHECK(names(refusal(numbered(8).repeat().window(2, 1)), "window follows an endless repeat"));
  CHECK(names(refusal(numbered(8).repeat(int64_t{1} << 59).window(int64_t{1} << 61, 1)),
              "more axes or bytes than there can be"));
  auto deep = numbered(8);
  for (int axes = 0; axes < 8; ++axes)
    deep = deep.window(1, 1);
  CHECK(names(refusal(deep), "a window of 1 elements has more axes or bytes than there can be"));
}

}  // namespace troupe
