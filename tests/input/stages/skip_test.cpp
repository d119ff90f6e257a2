#include "reading.hpp"

namespace troupe {

TEST_CASE("skip passes over the first elements of each pass") {
  CHECK(read(numbered(6).skip(2).batch(2)) == batches{{2, 3}, {4, 5}});
  CHECK(read(numbered(6).batch(2).skip(2)) == batches{{4, 5}});
  CHECK(flat(read(numbered(3).skip(1).repeat(2))) == std::vector<int64_t>{1, 2, 1, 2});
  CHECK(flat(read(numbered(3).repeat(2).skip(1))) == std::vector<int64_t>{1, 2, 0, 1, 2});
  CHECK(flat(read(numbered(3).repeat().skip(4), {}, 3)) == std::vector<int64_t>{1, 2, 0});
  CHECK(read(numbered(3).skip(0)).size() == 3);
}

TEST_CASE("take and skip at the same count divide the data") {
  const auto data = numbered(10).shuffle(3);
  auto both = flat(read(data.take(7)));
  const auto rest = flat(read(data.skip(7)));
  both.insert(both.end(), rest.begin(), rest.end());
  CHECK(both == flat(read(data)));
}

TEST_CASE("skipping everything, less than nothing, or more than any data has is refused") {
  CHECK(names(refusal(numbered(8).skip(8).batch(2)), "skip(8) leaves nothing of the 8 elements before it"));
  CHECK(names(refusal(numbered(8).skip(-1)), "not -1"));
  CHECK(names(refusal(numbered(8).repeat().skip(INT64_MAX)),
              "skip passes over 0 to 72057594037927936 elements, not 9223372036854775807"));
}

}  // namespace troupe
