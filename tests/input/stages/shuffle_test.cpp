#include "reading.hpp"

#include <set>

namespace troupe {

TEST_CASE("every epoch of a shuffle reads each example once, and each in an order of its own") {
  const auto all = flat(read(numbered(100).shuffle().repeat(3)));
  REQUIRE(all.size() == 300);
  std::set<std::vector<int64_t>> orders;
  for (auto epoch = all.begin(); epoch != all.end(); epoch += 100) {
    const std::vector<int64_t> order(epoch, epoch + 100);
    CHECK(sorted(order) == counting(0, 100));
    CHECK(order != counting(0, 100));
    orders.insert(order);
  }
  CHECK(orders.size() == 3);
}

TEST_CASE("the job's seed orders a shuffle without one of its own, and no other") {
  const auto data = numbered(40);
  CHECK(read(data.shuffle(), {.seed = 1}) != read(data.shuffle(), {.seed = 2}));
  CHECK(read(data.shuffle(), {.seed = 1}) == read(data.shuffle(), {.seed = 1}));
  CHECK(read(data.shuffle(9), {.seed = 1}) == read(data.shuffle(9), {.seed = 2}));
  CHECK(read(data.shuffle(9)) != read(data.shuffle(10)));
  CHECK(read(data.shuffle(9)) == read(data.shuffle(), {.seed = 9}));
}

TEST_CASE("a second shuffle does not repeat the first one's permutation") {
  const auto once = flat(read(numbered(40).shuffle(5)));
  const auto twice = flat(read(numbered(40).shuffle(5).shuffle(5)));
  std::vector<int64_t> squared;
  for (int64_t i : once)
    squared.push_back(once[static_cast<size_t>(i)]);
  CHECK(twice != squared);
  CHECK(sorted(twice) == counting(0, 40));
}

TEST_CASE("a shuffle after a batch moves whole batches") {
  const auto all = read(numbered(12).batch(3).shuffle(1));
  CHECK(all != read(numbered(12).batch(3)));
  for (const auto& one : all) {
    CHECK(one.front() % 3 == 0);
    CHECK(one == counting(one.front(), one.front() + 3));
  }
  CHECK(sorted(flat(all)) == counting(0, 12));
}

TEST_CASE("a shuffle of several passes at once mixes them and keeps each example as often") {
  const auto all = flat(read(numbered(10).repeat(3).shuffle(4)));
  auto expected = flat({counting(0, 10), counting(0, 10), counting(0, 10)});
  CHECK(sorted(all) == sorted(expected));
  CHECK(sorted({all.begin(), all.begin() + 10}) != counting(0, 10));
}

TEST_CASE("a shuffle after an endless repeat is refused when the pipeline is read") {
  const auto e = refusal(numbered(10).repeat().shuffle().batch(2));
  CHECK(e.category == errc::invalid_argument);
  CHECK(names(e, "endless repeat"));
  CHECK(names(e, "tensors -> repeat -> shuffle -> batch(2)"));
}

}  // namespace troupe
