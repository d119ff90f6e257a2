#include "reading.hpp"

#include <doctest/doctest.h>

namespace troupe {

namespace {

/// The numbers 0 to `count`, one after the other, with a position.
dataset counted(int64_t count) {
  const element_spec spec{.features = {{"id", dtype::int64, {}}}};
  return *dataset::from_generator(spec, [count]() -> expected<example_stream> {
    const auto at = std::make_shared<int64_t>(0);
    return example_stream{.next = [at, count]() -> expected<std::optional<example_tensors>> {
                            if (*at == count)
                              return std::nullopt;
                            return example_tensors{{{"id", tensor::scalar((*at)++)}}};
                          },
                          .save = [at] { return std::to_string(*at); },
                          .restore = [at](std::string_view s) -> expected<void> {
                            *at = std::stoll(std::string{s});
                            return {};
                          }};
  });
}

}  // namespace

TEST_CASE("the shards of a dataset have each of its elements once, in their order") {
  for (const auto& data : {numbered(10), counted(10)}) {
    CHECK(flat(read(data.shard(3, 0))) == std::vector<int64_t>{0, 3, 6, 9});
    CHECK(flat(read(data.shard(3, 1))) == std::vector<int64_t>{1, 4, 7});
    CHECK(flat(read(data.shard(3, 2))) == std::vector<int64_t>{2, 5, 8});
    CHECK(flat(read(data.shard(1, 0))) == counting(0, 10));
  }
  CHECK(numbered(10).shard(3, 0).last_stage()->elements(false) == 4);
  CHECK(numbered(10).shard(3, 1).last_stage()->elements(false) == 3);
}

TEST_CASE("shards of batches are what that many readers of the dataset get, over epochs as well") {
  for (const auto& data : {numbered(10).shuffle().batch(3).repeat(3), counted(10).batch(3).repeat(3)})
    for (int32_t index = 0; index < 4; ++index) {
      CAPTURE(index);
      CHECK(read(data.shard(4, index)) == read(data, {.host = index, .hosts = 4}));
      CHECK(read(data.shard(2, 1), {.host = index, .hosts = 2 * (index + 1)})
            == read(data, {.host = 2 * index + 1, .hosts = 4 * (index + 1)}));
    }
}

TEST_CASE("a shard goes on where its position was saved") {
  for (const auto& data : {numbered(24).shuffle().shard(2, 1).batch(2).repeat(), counted(24).shard(2, 1).batch(2)}) {
    const auto it = iterate(data);
    read(*it, 2);
    const auto position = it->save();
    REQUIRE(position);
    const auto rest = read(*it, 3);
    const auto again = iterate(data);
    REQUIRE(again->restore(*position));
    CHECK(read(*again, 3) == rest);
    const auto other = iterate(numbered(24).shuffle().shard(2, 0).batch(2).repeat());
    CHECK_FALSE(other->restore(*position));
  }
}

TEST_CASE("shards keep streams together only where they are of whole batches") {
  const auto four = numbered(16).streams(4);
  CHECK(names(refusal(four.shard(2, 0)), "shard(2, 0) follows streams(4)"));
  CHECK(names(refusal(four.batch(2).shard(3, 0)), "divides 4"));
  const auto half = four.batch(2).shard(2, 1);
  CHECK(half.last_stage()->streams() == 2);
  CHECK(read(half) == batches{{8, 12}, {9, 13}, {10, 14}, {11, 15}});
}

TEST_CASE("a shard that does not exist is refused, and so is one that has no elements") {
  CHECK(names(refusal(numbered(8).shard(0, 0)), "shard(0, 0)"));
  CHECK(names(refusal(numbered(8).shard(2, 2)), "shard(2, 2): there are at least 1 shard"));
  CHECK(names(refusal(numbered(8).repeat().shard(int64_t{1} << 62, 1)), "at most 2147483648 shards"));
  CHECK(names(refusal(numbered(8).shard(2, -1)), "an index below their number"));
  CHECK(names(refusal(numbered(2).shard(3, 2)), "leaves nothing of the 2 elements"));
}

}  // namespace troupe
