#include "reading.hpp"

namespace troupe {

TEST_CASE("a batch holds consecutive examples, and the last one what is left of them") {
  CHECK(read(numbered(7).batch(3)) == batches{{0, 1, 2}, {3, 4, 5}, {6}});
  CHECK(numbered(7).batch(3).last_stage()->elements(false) == 3);
  CHECK(numbered(7).batch(3).last_stage()->elements(true) == 2);
  CHECK(numbered(7).batch(3).source_size() == 7);
}

TEST_CASE("a partial last batch is dropped where the job or the batch says so, and the batch has the last word") {
  const auto data = numbered(7);
  CHECK(read(data.batch(3), {.drop_remainder = true}) == batches{{0, 1, 2}, {3, 4, 5}});
  CHECK(read(data.batch(3, false), {.drop_remainder = true}) == batches{{0, 1, 2}, {3, 4, 5}, {6}});
  CHECK(read(data.batch(3, true)) == batches{{0, 1, 2}, {3, 4, 5}});
}

TEST_CASE("a pipeline without a batch gives one example at a time") {
  auto it = iterate(numbered(3));
  CHECK(it->batch_rows() == 1);
  CHECK(read(*it) == batches{{0}, {1}, {2}});
}

TEST_CASE("the end is reported at every read after it") {
  auto it = iterate(numbered(2).batch(2));
  CHECK(next(*it).size() == 2);
  CHECK(next(*it).empty());
  CHECK(next(*it).empty());
}

TEST_CASE("a batch of a batch is refused, naming both") {
  const auto e = refusal(numbered(8).batch(4).repeat().batch(2));
  CHECK(e.category == errc::invalid_argument);
  CHECK(names(e, "batch(2) follows batch(4)"));
}

TEST_CASE("a batch of no or less than no examples is refused, naming the size") {
  CHECK(names(refusal(numbered(8).batch(0)), "not 0"));
  CHECK(names(refusal(numbered(8).batch(-3)), "not -3"));
  CHECK(refusal(numbered(8).batch(0)).category == errc::invalid_argument);
}

TEST_CASE("the first impossible stage is the one reported") {
  const auto e = refusal(numbered(8).repeat(0).batch(-1).take(2));
  CHECK(e.message == "repeat takes at least 1 pass, not 0");
  CHECK(names(e, "tensors -> repeat(0) -> batch(-1) -> take(2)"));
}

TEST_CASE("dropping every batch is refused: the batch is larger than the data") {
  const auto e = refusal(numbered(8).batch(16), {.drop_remainder = true});
  CHECK(e.category == errc::invalid_argument);
  CHECK(names(e, "batch(16, drop_remainder = true) leaves nothing of the 8 elements"));
  CHECK(read(numbered(8).batch(16)).size() == 1);
}

}  // namespace troupe
