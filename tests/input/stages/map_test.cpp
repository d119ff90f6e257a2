#include "input/streams/streamed.hpp"
#include "reading.hpp"
#include "tests/support/has.hpp"

#include <stdexcept>

namespace troupe {

using test::has;

namespace {

example_tensors tenfold(const example_tensors& e) {
  return {.features = {{"id", tensor::scalar(10 * e.features.at("id").as<int64_t>()[0])}}};
}

std::vector<int64_t> times_ten(std::vector<int64_t> ids) {
  for (auto& id : ids)
    id *= 10;
  return ids;
}

/// Replaces a window of ids by their sum.
example_tensors summed(const example_tensors& e) {
  const auto ids = e.features.at("id").as<int64_t>();
  return {.features = {{"id", tensor::scalar(std::accumulate(ids.begin(), ids.end(), int64_t{0}))}}};
}

error failure(const dataset& d) {
  auto it = iterate(d);
  std::vector<int64_t> ids(static_cast<size_t>(it->batch_rows()));
  std::byte* into[] = {reinterpret_cast<std::byte*>(ids.data())};
  const auto rows = it->read(into, {});
  REQUIRE_FALSE(rows);
  return rows.error();
}

const element_spec one_id{.features = {{.name = "id", .type = dtype::int64}}};

}  // namespace

TEST_CASE("every example is changed, before or after a shuffle, in whatever order it is read") {
  const auto data = numbered(11);
  CHECK(flat(read(data.map("tenfold", tenfold))) == times_ten(counting(0, 11)));
  CHECK(data.map("tenfold", tenfold).to_text() == "tensors -> map(tenfold)");
  CHECK(data.map("tenfold", tenfold).source_size() == 11);
  const auto wanted = times_ten(flat(read(data.shuffle(4).skip(1).batch(3).repeat(2))));
  CHECK(flat(read(data.map("tenfold", tenfold).shuffle(4).skip(1).batch(3).repeat(2))) == wanted);
  CHECK(flat(read(data.shuffle(4).map("tenfold", tenfold).skip(1).batch(3).repeat(2))) == wanted);
  CHECK(flat(read(data.shuffle(4).skip(1).map("tenfold", tenfold).batch(3).repeat(2))) == wanted);
  CHECK(flat(read(data.map("tenfold", tenfold).map("again", tenfold).batch(4)))
        == times_ten(times_ten(counting(0, 11))));
}

TEST_CASE("a window is changed as one example, and changed examples are put into windows") {
  const auto data = numbered(7);
  CHECK(flat(read(data.window(3, 2).map("sum", summed, one_id).batch(2))) == std::vector<int64_t>{3, 9, 15});
  CHECK(flat(read(data.window(2, 2).map("sum", summed, one_id).window(2, 1).map("sum again", summed, one_id)))
        == std::vector<int64_t>{6, 14});
  CHECK(flat(read(data.map("tenfold", tenfold).window(3, 3).map("sum", summed, one_id).shuffle(2).batch(1).repeat(2)))
            .size()
        == 4);
  CHECK(sorted(flat(read(data.map("tenfold", tenfold).window(3, 3).map("sum", summed, one_id).shuffle(2))))
        == std::vector<int64_t>{30, 120});
}

TEST_CASE("results may have other components, which the dataset then has") {
  const element_spec becomes{.features = {{.name = "half", .type = dtype::float32, .dims = {2}}},
                             .labels = {{.name = "odd", .type = dtype::boolean}}};
  const auto data = numbered(4)
                        .map(
                            "split",
                            [](const example_tensors& e) {
                              const auto id = e.features.at("id").as<int64_t>()[0];
                              const auto half = static_cast<float>(id) / 2;
                              return example_tensors{{{"half", tensor::of<float>({2}, {half, -half})}},
                                                     {{"odd", tensor::scalar(id % 2 == 1)}}};
                            },
                            becomes)
                        .batch(4);
  CHECK(data.spec() == becomes);
  auto it = iterate(data);
  float half[8];
  bool odd[4];
  std::byte* into[] = {reinterpret_cast<std::byte*>(half), reinterpret_cast<std::byte*>(odd)};
  CHECK(it->read(into, {}) == 4);
  CHECK((half[2] == 0.5f && half[7] == -1.5f));
  CHECK((!odd[0] && odd[1] && odd[3]));
}

TEST_CASE("examples of a source that is read in order are changed too, and hosts share them") {
  const auto data = numbered_stream(9).map("tenfold", tenfold);
  CHECK(data.to_text() == "ids -> map(tenfold)");
  CHECK(flat(read(data.skip(1).batch(3).repeat(2)))
        == flat(read(numbered(9).map("tenfold", tenfold).skip(1).batch(3).repeat(2))));
  CHECK(read(data, {.host = 1, .hosts = 2}) == batches{{10}, {30}, {50}, {70}});
}

TEST_CASE("a changed dataset resumes where it was saved, in any order and in one") {
  for (const auto& data : {numbered(13).map("tenfold", tenfold).shuffle(1).batch(3).repeat(2),
                           numbered_stream(13).map("tenfold", tenfold).batch(3).repeat(2)}) {
    const auto all = read(data);
    for (size_t cut = 0; cut <= all.size(); ++cut) {
      auto first = iterate(data), second = iterate(data);
      read(*first, cut);
      REQUIRE(second->restore(first->save().value()));
      CHECK(read(*second) == batches(all.begin() + static_cast<std::ptrdiff_t>(cut), all.end()));
    }
  }
}

TEST_CASE("a position is refused under a function of another name, or where there was none") {
  for (const auto& source : {numbered(9), numbered_stream(9)}) {
    const auto state = iterate(source.map("tenfold", tenfold))->save().value();
    const auto why = [&](const dataset& other) { return iterate(other)->restore(state).error().message; };
    CHECK(has(why(source.map("other", tenfold)),
              "saved by 'map(tenfold): id int64[]', here is 'map(other): id int64[]'"));
    CHECK_FALSE(iterate(source)->restore(state));
    CHECK(iterate(source.map("tenfold", tenfold))->restore(state));
  }
}

TEST_CASE("an exception and an error of the function name the stage, and where it stood in a source that knows") {
  const auto throws = [](const example_tensors&) -> example_tensors { throw std::runtime_error{"not a picture"}; };
  const auto fails = [](const example_tensors&) -> expected<example_tensors> {
    return fail(errc::out_of_range, "too dark");
  };
  CHECK(failure(numbered(5).skip(2).map("decode", throws).batch(2))
        == error{errc::state, "an exception left the function of map(decode), row 2 of the source: not a picture"});
  CHECK(failure(numbered_stream(5).map("decode", throws))
        == error{errc::state, "an exception left the function of map(decode): not a picture"});
  CHECK(failure(numbered(5).map("decode", fails)) == error{errc::state, "map(decode), row 0 of the source: too dark"});
  const auto wrong = [](const example_tensors&) { return example_tensors{.features = {{"id", tensor::scalar(1.0f)}}}; };
  CHECK(failure(numbered(5).map("decode", wrong)).message
        == "map(decode), row 0 of the source: the feature 'id' is float32[] and should be int64[]");
}

TEST_CASE("a map that cannot be is refused when the data are read") {
  CHECK(names(refusal(numbered(4).batch(2).map("tenfold", tenfold)),
              "map(tenfold) follows batch(2): change examples first"));
  CHECK(names(refusal(numbered_stream(4).batch(2).map("tenfold", tenfold)),
              "map(tenfold) follows batches of 2 rows, in ids -> batch(2) -> map(tenfold)"));
  CHECK(names(refusal(numbered(4).map("", tenfold)), "a map has no name"));
  CHECK(names(refusal(numbered(4).map("none", {})), "map(none) has no function"));
  CHECK(names(refusal(numbered(4).map("tenfold", tenfold, element_spec{})), "map(tenfold): the spec has no features"));
  CHECK(names(refusal(numbered(4).take(0).map("tenfold", tenfold)), "take keeps at least 1 element"));
}

}  // namespace troupe
