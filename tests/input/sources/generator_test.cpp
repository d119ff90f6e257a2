#include "input/sources/generator_source.hpp"
#include "reading.hpp"
#include "tests/support/has.hpp"

#include <atomic>
#include <stdexcept>

namespace troupe {

using test::has;

namespace {

const element_spec one_id{.features = {{.name = "id", .type = dtype::int64}}};

example_tensors with_id(int64_t id) { return {.features = {{"id", tensor::scalar(id)}}}; }

dataset made(const expected<dataset>& d) {
  REQUIRE_MESSAGE(d.has_value(), (d ? "" : to_text(d.error())));
  return *d;
}

/// Examples 0, 1, 2 and so on, from a function of the index.
dataset indexed(int64_t count) { return made(dataset::from_generator(one_id, count, with_id)); }

std::function<expected<std::optional<example_tensors>>()> counter(int64_t count) {
  return [i = int64_t{0}, count]() mutable { return i < count ? std::optional{with_id(i++)} : std::nullopt; };
}

/// Examples 0, 1, 2 and so on, from a function that returns one after the other.
dataset streamed(int64_t count) { return made(dataset::from_generator(one_id, counter(count), "ids")); }

/// The error of the first read, which must fail.
error failure(const dataset& d) {
  auto it = iterate(d);
  std::vector<std::vector<std::byte>> memory;
  for (const auto& c : it->spec().components())
    memory.emplace_back(static_cast<size_t>(it->batch_rows() * c.row_bytes()));
  std::vector<std::byte*> into;
  for (auto& bytes : memory)
    into.push_back(bytes.data());
  const auto rows = it->read(into, {});
  REQUIRE_FALSE(rows);
  return rows.error();
}

}  // namespace

TEST_CASE("a generator of an index does what tensors do under every stage, and resumes exactly") {
  const auto own = indexed(17), known = numbered(17);
  CHECK(own.source_size() == 17);
  CHECK(own.to_text() == "generator");
  for (const auto& change : std::vector<std::function<dataset(const dataset&)>>{
           [](const dataset& d) { return d.shuffle(3).batch(4).repeat(2); },
           [](const dataset& d) { return d.window(3, 2).shuffle(1).batch(2); },
           [](const dataset& d) { return d.skip(2).take(9).batch(5, true).repeat(); }}) {
    const auto mine = change(own), theirs = change(known);
    if (mine.spec() == own.spec())
      CHECK(read(mine, {}, 9) == read(theirs, {}, 9));
    auto whole = iterate(mine), resumed = iterate(mine);
    const size_t width = static_cast<size_t>(whole->batch_rows() * mine.spec().features[0].dims.elements());
    std::vector<int64_t> a(width), b(width);
    std::byte *to_a[] = {reinterpret_cast<std::byte*>(a.data())}, *to_b[] = {reinterpret_cast<std::byte*>(b.data())};
    REQUIRE(whole->read(to_a, {}));
    REQUIRE(resumed->restore(whole->save().value()));
    REQUIRE(whole->read(to_a, {}));
    REQUIRE(resumed->read(to_b, {}));
    CHECK(a == b);
  }
}

TEST_CASE("the position of a generator is refused by one of another name, count or spec") {
  const auto state = iterate(indexed(5))->save().value();
  const auto why = [&](const dataset& other) {
    const auto taken = iterate(other)->restore(state);
    REQUIRE_FALSE(taken);
    return taken.error().message;
  };
  CHECK(
      why(indexed(6))
          .ends_with("saved by 'generator of 5 examples: id int64[]', here is 'generator of 6 examples: id int64[]'"));
  CHECK(why(made(dataset::from_generator(one_id, 5, with_id, "other")))
            .ends_with("here is 'other of 5 examples: id int64[]'"));
}

TEST_CASE("every reading of a stream begins with a fresh copy of the function") {
  const auto data = streamed(3);
  CHECK(read(data) == batches{{0}, {1}, {2}});
  CHECK(read(data) == batches{{0}, {1}, {2}});
  CHECK(read(data.repeat(2).batch(4)) == batches{{0, 1, 2, 0}, {1, 2}});
  CHECK(read(data.skip(1), {.host = 1, .hosts = 2}) == batches{{2}});
  CHECK_FALSE(data.source_size());
}

TEST_CASE("a function that returns examples without an end is a stream") {
  const auto endless = made(dataset::from_generator(one_id, [i = int64_t{0}]() mutable { return with_id(i++); }));
  CHECK(read(endless.batch(2), {}, 2) == batches{{0, 1}, {2, 3}});
  CHECK(refusal(endless.shuffle().batch(2)).category == errc::unimplemented);
}

TEST_CASE(
    "the position of a stream without save and restore cannot be saved, and the error names it, through stages too") {
  for (const auto& data : {streamed(5), streamed(5).batch(2).repeat()}) {
    const auto state = iterate(data)->save();
    REQUIRE_FALSE(state);
    CHECK(state.error()
          == error{errc::unimplemented,
                   "the position of ids cannot be saved: its example_stream has no save and restore"});
  }
}

TEST_CASE("a stream with save and restore resumes where it was saved, whatever bytes its position has") {
  const auto data = numbered_stream(7).skip(1).repeat(2).batch(4);
  const auto all = read(data);
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    auto first = iterate(data), second = iterate(data);
    read(*first, cut);
    REQUIRE(second->restore(first->save().value()));
    CHECK(read(*second) == batches(all.begin() + static_cast<std::ptrdiff_t>(cut), all.end()));
  }
  auto it = iterate(numbered_stream(7));
  CHECK(it->restore("others: id int64[]\nnext 2\n").error().message
        == "cannot resume ids: the state was saved by 'others: id int64[]', here is 'ids: id int64[]'");
  for (const char* state : {"", "ids: id int64[]", "ids: id int64[]\n", "ids: id int64[]\nnext 2",
                            "ids: id int64[]\nnext x\n", "ids: id int64[]\nnext -1\n"})
    CHECK(it->restore(state).error().category == errc::invalid_argument);
  CHECK(flat(read(*it)) == counting(0, 7));
}

TEST_CASE("a stop reaches a function of an index within a batch, and the batch is read whole afterwards") {
  std::stop_source stop;
  int64_t asked = 0;
  const auto data = made(dataset::from_generator(one_id, 100, [&](int64_t i) {
    if (++asked == 3)
      stop.request_stop();
    return with_id(i);
  }));
  std::vector<int64_t> ids(50);
  std::byte* into[] = {reinterpret_cast<std::byte*>(ids.data())};
  auto it = iterate(data.batch(50));
  CHECK(it->read(into, stop.get_token()).error() == error{errc::cancelled, "generator was stopped before example 3"});
  CHECK(asked == 3);
  CHECK(it->read(into, {}) == 50);
  CHECK(ids == counting(0, 50));
}

TEST_CASE("a stop reaches a stream between two examples, and an ended stream is not asked again") {
  auto it = iterate(streamed(2));
  std::stop_source stop;
  stop.request_stop();
  int64_t id = 0;
  std::byte* into[] = {reinterpret_cast<std::byte*>(&id)};
  CHECK(it->read(into, stop.get_token()).error() == error{errc::cancelled, "ids was stopped before example 0"});
  CHECK(next(*it) == counting(0, 1));

  const auto calls = std::make_shared<int>(0);
  auto empty = iterate(made(dataset::from_generator(one_id, [calls]() -> std::optional<example_tensors> {
    ++*calls;
    return {};
  })));
  for (int i = 0; i < 3; ++i)
    CHECK(empty->read(into, {}).error() == error{errc::out_of_range, "generator ended after 0 examples"});
  CHECK(*calls == 1);
}

TEST_CASE("an exception of the function is an error that says whose it is and of which example") {
  const auto throws_at = [](int64_t i) -> example_tensors {
    if (i == 0)
      throw std::runtime_error{"no camera"};
    return with_id(i);
  };
  CHECK(failure(made(dataset::from_generator(one_id, 3, throws_at, "camera")).batch(2))
        == error{errc::state, "an exception left the function of camera, example 0: no camera"});
  CHECK(failure(made(dataset::from_generator(
            one_id, []() -> std::optional<example_tensors> { throw 1; }, "camera")))
        == error{errc::state, "an exception left the function of camera, example 0"});
  const auto e = refusal(made(dataset::from_generator(
      one_id, []() -> example_stream { throw std::runtime_error{"no camera"}; }, "camera")));
  CHECK(e == error{errc::state, "an exception left the function of open of camera: no camera"});

  const auto thrower = iterate(made(dataset::from_generator(
      one_id,
      [] {
        return example_stream{
            .next = []() -> expected<std::optional<example_tensors>> { return with_id(0); },
            .save = []() -> expected<std::string> { throw std::runtime_error{"no film"}; },
            .restore = [](std::string_view) -> expected<void> { throw std::runtime_error{"no film"}; }};
      },
      "camera")));
  CHECK(thrower->save().error() == error{errc::state, "an exception left the function of save of camera: no film"});
  CHECK(thrower->restore("camera: id int64[]\nnext 2\n").error()
        == error{errc::state, "an exception left the function of restore of camera: no film"});
}

TEST_CASE("an error of the function keeps its category, but for those that mean an end or a stop") {
  const auto fails_as = [](errc category) {
    return failure(made(dataset::from_generator(
        one_id, 3, [category](int64_t) -> expected<example_tensors> { return fail(category, "gone"); })));
  };
  CHECK(fails_as(errc::unavailable) == error{errc::unavailable, "generator, example 0: gone"});
  CHECK(fails_as(errc::out_of_range) == error{errc::state, "generator, example 0: gone"});
  CHECK(fails_as(errc::cancelled) == error{errc::state, "generator, example 0: gone"});
}

TEST_CASE("[DF-13] an example that differs from the spec is an error that names the component and both forms") {
  const element_spec spec{.features = {{.name = "x", .dims = {2}}}, .labels = {{.name = "y", .type = dtype::int32}}};
  const auto message = [&](const example_tensors& e) {
    return failure(made(dataset::from_generator(spec, 1, [e](int64_t) { return e; }))).message;
  };
  const auto x = tensor::of<float>({2}, {1, 2}), y = tensor::scalar<int32_t>(1);
  CHECK(message({{{"x", tensor::of<float>({3}, {1, 2, 3})}}, {{"y", y}}})
        == "generator, example 0: the feature 'x' is float32[3] and should be float32[2]");
  CHECK(message({{{"x", x}}, {{"y", tensor::scalar(1.0f)}}})
        == "generator, example 0: the label 'y' is float32[] and should be int32[]");
  CHECK(message({{{"x", x}}, {}}) == "generator, example 0: the label 'y' is missing");
  CHECK(message({{{"x", x}, {"z", x}}, {{"y", y}}}) == "generator, example 0: the spec has no feature 'z'");
}

TEST_CASE("components are delivered in the order of their names, however the spec lists them") {
  const element_spec spec{.features = {{.name = "b", .type = dtype::uint8}, {.name = "a", .type = dtype::int32}},
                          .labels = {{.name = "y", .type = dtype::boolean}}};
  const auto data = made(dataset::from_generator(spec, 2, [](int64_t i) {
    return example_tensors{
        {{"a", tensor::scalar(static_cast<int32_t>(i + 7))}, {"b", tensor::scalar(static_cast<uint8_t>(i))}},
        {{"y", tensor::scalar(i > 0)}}};
  }));
  CHECK(data.spec().features[0].name == "a");
  auto it = iterate(data.batch(2));
  int32_t a[2];
  uint8_t b[2];
  bool y[2];
  std::byte* into[] = {reinterpret_cast<std::byte*>(a), reinterpret_cast<std::byte*>(b),
                       reinterpret_cast<std::byte*>(y)};
  CHECK(it->read(into, {}) == 2);
  CHECK((a[0] == 7 && a[1] == 8 && b[1] == 1 && !y[0] && y[1]));
}

TEST_CASE("a generator resumes whatever its name is, also one that begins as a line about files does") {
  for (const std::string name : {"source", "source of clicks"}) {
    const auto data = made(dataset::from_generator(one_id, 9, with_id, name)).batch(3);
    const auto it = iterate(data);
    CHECK(next(*it) == std::vector<int64_t>{0, 1, 2});
    const auto again = iterate(data);
    REQUIRE(again->restore(it->save().value()));
    CHECK(next(*again) == std::vector<int64_t>{3, 4, 5});
  }
}

TEST_CASE("a generator that cannot be is refused, naming it and what is wrong") {
  const auto why = [](element_spec spec, int64_t count = 3, std::string name = "walks") {
    const auto d = dataset::from_generator(std::move(spec), count, with_id, std::move(name));
    REQUIRE_FALSE(d);
    CHECK(d.error().category == errc::invalid_argument);
    return d.error().message;
  };
  CHECK(why({}) == "walks: the spec has no features");
  CHECK(why({.features = {{.name = "x"}, {.name = "x"}}}) == "walks: component 'x' is given twice");
  CHECK(why({.features = {{.name = "x", .dims = {3, -1}}}}) == "walks: component 'x' has a negative extent: [3, -1]");
  CHECK(why({.features = {{.name = ""}}}) == "walks: a component has no name");
  CHECK(why({.features = {{.name = "x", .dims = {1, 1, 1, 1, 1, 1, 1, 1}}}})
        == "walks: component 'x' has 8 axes; with the batch before them there may be at most 8");
  CHECK(has(why({.features = {{.name = "x", .dims = {int64_t{1} << 40, int64_t{1} << 40}}}}),
            "more bytes than there can be"));
  CHECK(why(one_id, -1) == "walks must have at least 0 examples, not -1");
  CHECK(why(one_id, INT64_MAX) == "walks cannot have 9223372036854775807 examples: repeat fewer without end");
  CHECK(why(one_id, 3, "") == "a generator has no name");
  CHECK(why(one_id, 3, "a\nb") == "a generator has a line break in its name, 'a\nb'");
  CHECK(dataset::from_generator(one_id, 3, std::function<expected<example_tensors>(int64_t)>{}).error().message
        == "generator has no function that makes its examples");
  CHECK(dataset::from_generator(one_id, std::function<expected<std::optional<example_tensors>>()>{}).error().message
        == "generator has no function that makes its examples");
  CHECK(names(refusal(indexed(0)), "generator of 0 examples: id int64[] has no examples"));
}

TEST_CASE("an example_stream needs next, and save and restore together") {
  const auto why = [](example_stream s) {
    return refusal(made(dataset::from_generator(one_id, [s] { return s; }))).message;
  };
  CHECK(why({}) == "generator opened an example_stream without next");
  CHECK(why({.next = counter(1), .save = [] { return std::string{}; }})
        == "generator opened an example_stream with save and no restore");
  CHECK(why({.next = counter(1), .restore = [](std::string_view) -> expected<void> { return {}; }})
        == "generator opened an example_stream with restore and no save");
}

}  // namespace troupe
