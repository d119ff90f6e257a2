#include "reading.hpp"

namespace troupe {

TEST_CASE("take keeps the first elements, which are batches after a batch") {
  CHECK(read(numbered(9).take(2)) == batches{{0}, {1}});
  CHECK(read(numbered(9).batch(3).take(2)) == batches{{0, 1, 2}, {3, 4, 5}});
  CHECK(read(numbered(9).take(4).batch(3)) == batches{{0, 1, 2}, {3}});
  CHECK(read(numbered(3).take(100)).size() == 3);
  CHECK(numbered(9).take(4).last_stage()->elements(false) == 4);
}

TEST_CASE("take gives an endless repeat an end") {
  const auto data = numbered(2).repeat().take(5);
  CHECK(flat(read(data)) == std::vector<int64_t>{0, 1, 0, 1, 0});
  CHECK(data.last_stage()->elements(false) == 5);
  CHECK(flat(read(data.shuffle())).size() == 5);
}

TEST_CASE("the elements that are taken after a shuffle differ from epoch to epoch, those taken before it do not") {
  const auto varying = read(numbered(100).shuffle().take(10).batch(10).repeat(2));
  CHECK(sorted(varying[0]) != sorted(varying[1]));
  const auto fixed = read(numbered(100).take(10).shuffle().batch(10).repeat(2));
  CHECK(sorted(fixed[0]) == counting(0, 10));
  CHECK(sorted(fixed[1]) == counting(0, 10));
  CHECK(fixed[0] != fixed[1]);
}

TEST_CASE("taking nothing is refused") {
  CHECK(names(refusal(numbered(8).take(0)), "not 0"));
  CHECK(names(refusal(numbered(8).take(-1)), "not -1"));
}

}  // namespace troupe
