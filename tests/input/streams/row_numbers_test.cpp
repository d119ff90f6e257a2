#include "input/streams/row_numbers.hpp"

#include "input/streams/open_input.hpp"
#include "reading.hpp"

namespace troupe {

namespace {

/// The ids and the row numbers of the next batch.
std::pair<std::vector<int64_t>, std::vector<int64_t>> next_two(dataset_iterator& it, bool number_first) {
  const auto rows = static_cast<size_t>(it.batch_rows());
  std::vector<int64_t> ids(rows), numbers(rows);
  auto *const first = (number_first ? numbers : ids).data(), *const second = (number_first ? ids : numbers).data();
  std::byte* into[] = {reinterpret_cast<std::byte*>(first), reinterpret_cast<std::byte*>(second)};
  const auto read = it.read(into, {});
  ids.resize(read ? static_cast<size_t>(*read) : 0);
  numbers.resize(ids.size());
  return {ids, numbers};
}

}  // namespace

TEST_CASE("the number of each example is its row in the source, behind shuffles, repeats, takes and maps") {
  const auto data = numbered(17);  // The id of each example is its row.
  const auto same = [](const example_tensors& x) -> expected<example_tensors> { return x; };
  for (const auto& pipeline :
       {data.batch(3), data.shuffle().batch(4).repeat(3), data.shuffle(8).repeat().batch(5).take(12),
        data.skip(2).map("same", same).shuffle().batch(6)})
    for (const std::string name : {"a", "z"}) {
      CAPTURE(pipeline.to_text());
      const auto with = with_row_numbers(pipeline, name);
      CHECK(with.to_text() == pipeline.to_text());
      auto it = iterate(with, {.seed = 3});
      CHECK(it->source_rows() == 17);
      REQUIRE(it->spec().features.size() == 2);
      CHECK(it->spec().features[name == "a" ? 0 : 1].name == name);
      const auto plain = read(pipeline, {.seed = 3});
      for (const auto& wanted : plain) {
        const auto [ids, numbers] = next_two(*it, name == "a");
        CHECK(ids == wanted);
        CHECK(numbers == wanted);
      }
    }
}

TEST_CASE("a position with numbers is one without, and the other way round") {
  const auto plain = numbered(17).shuffle().batch(4).repeat(2), with = with_row_numbers(plain, "row");
  auto first = iterate(plain, {.seed = 3});
  read(*first, 3);
  auto second = iterate(with, {.seed = 3});
  REQUIRE(second->restore(*first->save()));
  CHECK(next_two(*second, false).first == next(*first));
  CHECK(*second->save() == *first->save());
}

TEST_CASE("examples of windows, and those of a stream, are no rows of their source") {
  CHECK_FALSE(iterate(numbered(17).window(3, 2).batch(2))->source_rows());
  const element_spec spec{{{"id", dtype::int64, {}}}, {}};
  const auto stream = dataset::from_generator(
      spec, []() -> expected<std::optional<example_tensors>> { return std::optional<example_tensors>{}; });
  REQUIRE(stream);
  CHECK_FALSE(iterate(stream->batch(2))->source_rows());
  const auto opened = open_input(numbered(5).batch(2), {});
  REQUIRE(opened);
  CHECK((*opened)->source_rows() == 5);
}

}  // namespace troupe
