#include "input/streams/input_function.hpp"
#include "reading.hpp"

namespace troupe {

TEST_CASE("a batch before the repeat ends with each pass") {
  CHECK(read(numbered(5).batch(3).repeat(2)) == batches{{0, 1, 2}, {3, 4}, {0, 1, 2}, {3, 4}});
  CHECK(read(numbered(5).batch(3).repeat(2), {.drop_remainder = true}) == batches{{0, 1, 2}, {0, 1, 2}});
}

TEST_CASE("a batch after the repeat crosses passes") {
  CHECK(read(numbered(5).repeat(2).batch(3)) == batches{{0, 1, 2}, {3, 4, 0}, {1, 2, 3}, {4}});
  CHECK(read(numbered(2).repeat().batch(5), {}, 2) == batches{{0, 1, 0, 1, 0}, {1, 0, 1, 0, 1}});
}

TEST_CASE("a repeat without a number does not end and has no element count") {
  const auto data = numbered(3).batch(2).repeat();
  CHECK(read(data, {}, 500).size() == 500);
  CHECK_FALSE(data.last_stage()->elements(false));
  CHECK(data.source_size() == 3);
  CHECK(numbered(3).repeat(4).last_stage()->elements(false) == 12);
}

TEST_CASE("what follows an endless repeat never ends either, unless it takes a number of elements") {
  const auto same = [](const example_tensors& e) -> expected<example_tensors> { return e; };
  const auto function = from_input_function({}, [](const input_context&) { return numbered(3).batch(1).repeat(); });
  for (const auto& source : {numbered(4), numbered_stream(4)}) {
    const auto ends = [](const dataset& d) { return !d.last_stage()->never_ends(); };
    CAPTURE(source.to_text());
    CHECK(ends(source));
    CHECK(ends(source.repeat(3).batch(2)));
    CHECK(ends(source.repeat().take(9).batch(2)));
    CHECK(ends(source.repeat(2).map("same", same).skip(1)));
    CHECK_FALSE(ends(source.repeat()));
    CHECK_FALSE(ends(source.repeat().map("same", same).batch(2).skip(1).shard(3, 1)));
    CHECK_FALSE(ends(source.batch(2).repeat().repeat(2)));
  }
  CHECK(deployed(function, {.mode = mode::evaluate})->last_stage()->never_ends());
}

TEST_CASE("no two passes of nested repeats share a shuffle") {
  const auto nested = flat(read(numbered(30).shuffle(1).repeat(2).repeat(2)));
  CHECK(nested == flat(read(numbered(30).shuffle(1).repeat(4))));
  const auto cut = read(numbered(30).shuffle(1).repeat().take(30).repeat(2));
  REQUIRE(cut.size() == 60);
  CHECK(batches(cut.begin(), cut.begin() + 30) != batches(cut.begin() + 30, cut.end()));
}

TEST_CASE("no passes, or less, are refused") {
  CHECK(names(refusal(numbered(8).repeat(0)), "not 0"));
  CHECK(names(refusal(numbered(8).repeat(-2)), "not -2"));
}

}  // namespace troupe
