#include "counted_new.hpp"
#include "input/sources/idx_source.hpp"
#include "input/streams/row_numbers.hpp"
#include "reading.hpp"
#include "tests/support/has.hpp"

#include <set>

namespace troupe {

using test::has;

namespace {

/// A batch of ids, `width` of them in a row, and the boolean feature.
struct marked {
  std::vector<int64_t> ids;
  std::vector<bool> begins;
  friend bool operator==(const marked&, const marked&) = default;
};

/// Reads datasets of one feature of ids and one boolean feature, which are in the order of their names.
std::vector<marked> read_marked(dataset_iterator& it, size_t most = 1000) {
  REQUIRE(it.spec().features.size() == 2);
  const size_t place = it.spec().features[0].type == dtype::boolean ? 0 : 1;
  const auto rows = static_cast<size_t>(it.batch_rows());
  const auto width = static_cast<size_t>(it.spec().features[1 - place].dims.elements());
  std::vector<marked> all;
  while (all.size() < most) {
    std::vector<int64_t> ids(rows * width);
    std::vector<uint8_t> begins(rows, 2);  // Neither true nor false.
    std::byte* into[2];
    into[place] = reinterpret_cast<std::byte*>(begins.data());
    into[1 - place] = reinterpret_cast<std::byte*>(ids.data());
    const auto read = it.read(into, {});
    if (!read) {
      REQUIRE(read.error().category == errc::out_of_range);
      break;
    }
    ids.resize(static_cast<size_t>(*read) * width);
    begins.resize(static_cast<size_t>(*read));
    for (const uint8_t flag : begins)
      REQUIRE(flag < 2);
    all.push_back({ids, {begins.begin(), begins.end()}});
  }
  return all;
}

std::vector<marked> read_marked(const dataset& d, const iterate_options& options = {}, size_t most = 1000) {
  return read_marked(*iterate(d, options), most);
}

/// The ids of `epoch`, cut into n streams; batch t has the t-th id of each.
batches aligned(const std::vector<int64_t>& epoch, size_t n) {
  const size_t length = epoch.size() / n;
  batches all(length, std::vector<int64_t>(n));
  for (size_t stream = 0; stream < n; ++stream)
    for (size_t t = 0; t < length; ++t)
      all[t][stream] = epoch[stream * length + t];
  return all;
}

batches joined(batches first, const batches& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

template <class T>
std::vector<T> after(const std::vector<T>& all, size_t cut) {
  return {all.begin() + static_cast<std::ptrdiff_t>(cut), all.end()};
}

/// A user's stage whose examples are aligned.
class aligned_stage final : public dataset_stage {
 public:
  element_spec spec() const override { return {.features = {{.name = "id", .type = dtype::int64}}}; }
  std::string to_text() const override { return "aligned"; }
  std::optional<int64_t> source_size() const override { return {}; }
  std::optional<int64_t> elements(bool) const override { return {}; }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options&) const override {
    return fail(errc::unimplemented, "it is not read here");
  }
  int64_t streams() const noexcept override { return 4; }
};

example_tensors same(const example_tensors& x) { return x; }

/// Replaces the ids of an example by their negatives if a stream begins with it.
example_tensors negated_beginning(const example_tensors& x) {
  const tensor& ids = x.features.at("id");
  std::vector<int64_t> changed(ids.as<int64_t>().begin(), ids.as<int64_t>().end());
  if (x.features.at("begins").as<bool>()[0])
    for (int64_t& id : changed)
      id = -id;
  return {.features = {{"id", tensor::of<int64_t>(ids.dims(), changed)}}};
}

}  // namespace

TEST_CASE("row i of a batch continues row i of the batch before, and what does not divide an epoch is left out") {
  const auto data = numbered(11).streams(3);
  CHECK(read(data.batch(3)) == batches{{0, 3, 6}, {1, 4, 7}, {2, 5, 8}});
  CHECK(flat(read(data)) == std::vector<int64_t>{0, 3, 6, 1, 4, 7, 2, 5, 8});
  CHECK(read(data.batch(3), {.drop_remainder = true}).size() == 3);
  CHECK(data.last_stage()->elements(false) == 9);
  CHECK(data.batch(3).last_stage()->elements(true) == 3);
  CHECK(data.source_size() == 11);
  CHECK(data.spec() == numbered(11).spec());
  CHECK(data.batch(3).to_text() == "tensors -> streams(3) -> batch(3)");
  CHECK(read(numbered(5).streams(1).batch(1)) == read(numbered(5).batch(1)));
  CHECK(read(numbered(5).streams(5).batch(5)) == batches{{0, 1, 2, 3, 4}});
}

TEST_CASE("the rows of later epochs are the same streams from their beginnings, wherever the repeat is") {
  const auto data = numbered(26).streams(4);
  const auto epoch = aligned(counting(0, 24), 4);
  CHECK(read(data.batch(4)) == epoch);
  CHECK(read(data.batch(4).repeat(2)) == joined(epoch, epoch));
  CHECK(read(data.repeat(2).batch(4)) == joined(epoch, epoch));
  CHECK(read(data.repeat().batch(4), {}, 15) == joined(joined(epoch, epoch), {epoch[0], epoch[1], epoch[2]}));
  // Two epochs of the data are one of the streams, which goes on from the one to the other.
  auto twice = counting(0, 7);
  twice.insert(twice.end(), twice.begin(), twice.begin() + 7);
  CHECK(read(numbered(7).repeat(2).streams(2).batch(2)) == aligned(twice, 2));
}

TEST_CASE("a feature says with which elements streams begin, in every epoch, wherever its name is in the order") {
  for (const std::string name : {"begins", "zero"})
    for (const auto& data : {numbered(10).streams(3, {.begins = name}).batch(3).repeat(3),
                             numbered(10).streams(3, {.begins = name}).repeat(3).batch(3)}) {
      CAPTURE(data.to_text());
      const component flag{name, dtype::boolean, {}}, id{"id", dtype::int64, {}};
      CHECK(data.spec().features == (name == "zero" ? std::vector{id, flag} : std::vector{flag, id}));
      CHECK(has(data.to_text(), "tensors -> streams(3, " + name + ") -> "));
      const auto all = read_marked(data);
      REQUIRE(all.size() == 9);
      for (size_t t = 0; t < all.size(); ++t) {
        CHECK(all[t].ids == aligned(counting(0, 9), 3)[t % 3]);
        CHECK(all[t].begins == std::vector<bool>(3, t % 3 == 0));
      }
    }
  CHECK(read_marked(numbered(4).streams(2, {.begins = "begins"}))
        == std::vector<marked>{{{0}, {true}}, {{2}, {true}}, {{1}, {false}}, {{3}, {false}}});
}

TEST_CASE("a stream may consist of windows, each of which is one example") {
  const auto check = [](const dataset& windows, size_t n) {
    CAPTURE(windows.to_text());
    const auto width = static_cast<size_t>(windows.spec().features[0].dims.elements());
    std::vector<std::vector<int64_t>> rows;
    auto it = iterate(windows);
    for (;;) {
      std::vector<int64_t> row(width);
      std::byte* into[] = {reinterpret_cast<std::byte*>(row.data())};
      if (!it->read(into, {}))
        break;
      rows.push_back(row);
    }
    const size_t length = rows.size() / n;
    REQUIRE(length > 1);
    const auto all = read_marked(
        windows.streams(static_cast<int64_t>(n), {.begins = "begins"}).batch(static_cast<int64_t>(n)));
    REQUIRE(all.size() == length);
    for (size_t t = 0; t < length; ++t) {
      batches wanted;
      for (size_t stream = 0; stream < n; ++stream)
        wanted.push_back(rows[stream * length + t]);
      CHECK(all[t].ids == flat(wanted));
      CHECK(all[t].begins == std::vector<bool>(n, t == 0));
    }
  };
  check(numbered(26).window(3, 3), 2);
  check(numbered(26).window(3, 2), 4);
  check(numbered(26).window(2, 2).window(3, 1), 3);
  check(numbered(26).shuffle(7).window(3, 2), 4);  // Each window has three ranges of rows.
  CHECK(numbered(26).window(3, 3).streams(2).source_size() == 8);
}

TEST_CASE("a shuffle before the streams gives every epoch other streams") {
  const auto order = flat(read(numbered(23).shuffle(4).repeat(2)));
  const std::vector<int64_t> first(order.begin(), order.begin() + 23), second(order.begin() + 23, order.end());
  REQUIRE(first != second);
  CHECK(read(numbered(23).shuffle(4).streams(5).batch(5).repeat(2))
        == joined(aligned({first.begin(), first.begin() + 20}, 5), aligned({second.begin(), second.begin() + 20}, 5)));
}

TEST_CASE("a map before the streams or after them changes each example, and sees where a stream begins") {
  const auto data = numbered(8);
  const element_spec ids{.features = {{.name = "id", .type = dtype::int64}}};
  const element_spec pairs{.features = {{.name = "id", .type = dtype::int64, .dims = {2}}}};
  const stream_options begins{.begins = "begins"};
  CHECK(read(data.streams(2, begins).map("negated", negated_beginning, ids).batch(2).repeat(2))
        == batches{{0, -4}, {1, 5}, {2, 6}, {3, 7}, {0, -4}, {1, 5}, {2, 6}, {3, 7}});
  CHECK(read_marked(data.map("same", same).streams(2, begins).map("same", same).batch(2))
        == read_marked(data.streams(2, begins).batch(2)));
  const auto windows = data.window(2, 2).streams(2, begins).map("negated", negated_beginning, pairs).batch(2);
  std::vector<int64_t> rows(4);
  std::byte* into[] = {reinterpret_cast<std::byte*>(rows.data())};
  auto it = iterate(windows);
  REQUIRE(it->read(into, {}));
  CHECK(rows == std::vector<int64_t>{0, -1, -4, -5});
  REQUIRE(it->read(into, {}));
  CHECK(rows == std::vector<int64_t>{2, 3, 6, 7});
}

TEST_CASE("labels and converted components stay with their examples beside the added feature") {
  const auto idx = input::idx_dataset({"images-idx3-ubyte", "labels-idx1-ubyte"},
                                      tensor::of<uint8_t>({4, 1, 1}, {0, 51, 102, 255}),
                                      tensor::of<uint8_t>({4}, {10, 11, 12, 13}));
  REQUIRE(idx);
  for (const std::string name : {"begins", "zero"}) {
    auto it = iterate(idx->streams(2, {.begins = name}).batch(2));
    float pixels[2];
    bool begins[2];
    int32_t labels[2];
    std::byte* into[] = {reinterpret_cast<std::byte*>(pixels), reinterpret_cast<std::byte*>(begins),
                         reinterpret_cast<std::byte*>(labels)};
    if (name == "begins")
      std::swap(into[0], into[1]);
    REQUIRE(it->read(into, {}));
    CHECK((begins[0] && begins[1] && pixels[0] == 0.0f && pixels[1] == 0.4f && labels[0] == 10 && labels[1] == 12));
    REQUIRE(it->read(into, {}));
    CHECK((!begins[0] && !begins[1] && pixels[0] == 0.2f && pixels[1] == 1.0f && labels[0] == 11 && labels[1] == 13));
  }
}

TEST_CASE("readers that take batches in turn keep their rows aligned if n is that many times the batch") {
  const auto data = numbered(24).streams(6, {.begins = "begins"}).batch(3).repeat(2);
  for (int32_t host = 0; host < 2; ++host) {
    const auto share = read_marked(data, {.host = host, .hosts = 2});
    REQUIRE(share.size() == 8);
    for (size_t t = 0; t < share.size(); ++t) {
      const auto at = static_cast<int64_t>(t % 4);
      const int64_t first = 12 * host + at;  // Three streams of four ids for each host.
      CHECK(share[t] == marked{{first, first + 4, first + 8}, std::vector<bool>(3, at == 0)});
    }
  }
}

TEST_CASE("whole batches can be taken and skipped without breaking rows apart") {
  const auto data = numbered(12).streams(3).batch(3);
  CHECK(read(data.skip(1).take(2)) == batches{{1, 5, 9}, {2, 6, 10}});
  CHECK(read(data.take(2).repeat(2)) == batches{{0, 4, 8}, {1, 5, 9}, {0, 4, 8}, {1, 5, 9}});
  CHECK(read(numbered(12).skip(2).take(9).streams(3).batch(3)) == batches{{2, 5, 8}, {3, 6, 9}, {4, 7, 10}});
}

TEST_CASE("streams are resumed from every position, and another number of streams or another name is refused") {
  const stream_options begins{.begins = "begins"};
  for (const auto& data :
       {numbered(17).streams(4, begins).batch(4).repeat(3),
        numbered(17).shuffle(8).streams(3, begins).repeat(2).batch(3),
        numbered(17).window(3, 2).streams(2, begins).batch(2).repeat(2), numbered(9).streams(2, begins),
        numbered(17).streams(4, begins).map("same", same).batch(2).skip(1)}) {
    CAPTURE(data.to_text());
    const auto all = read_marked(data, {.seed = 3});
    for (size_t cut = 0; cut <= all.size(); ++cut) {
      auto first = iterate(data, {.seed = 3}), second = iterate(data, {.seed = 3});
      read_marked(*first, cut);
      read_marked(*second, 2);
      REQUIRE(second->restore(first->save().value()));
      CHECK(read_marked(*second) == after(all, cut));
    }
  }
  const auto state = iterate(numbered(20).streams(4).batch(4))->save().value();
  const auto why = [&](const dataset& other) { return iterate(other)->restore(state).error().message; };
  CHECK(has(why(numbered(20).streams(5).batch(4)), "was saved by 'streams(4)', here is 'streams(5)'"));
  CHECK(has(why(numbered(20).streams(4, begins).batch(4)), "was saved by 'streams(4)', here is 'streams(4, begins)'"));
  CHECK(iterate(numbered(20).batch(4))->restore(state).error().category == errc::invalid_argument);
}

TEST_CASE("examples are rows of their source, unless they say where streams begin") {
  const auto plain = numbered(17).shuffle(2).streams(3).batch(3).repeat(2);
  CHECK(iterate(plain)->source_rows() == 17);
  auto it = iterate(with_row_numbers(plain, "row"));
  for (const auto& wanted : read(plain)) {
    std::vector<int64_t> ids(3), rows(3);
    std::byte* into[] = {reinterpret_cast<std::byte*>(ids.data()), reinterpret_cast<std::byte*>(rows.data())};
    REQUIRE(it->read(into, {}));
    CHECK(ids == wanted);
    CHECK(rows == wanted);
  }
  // The same row begins a stream in one epoch and not in another, so nothing may be kept by its number.
  const auto marking = numbered(17).shuffle(2).streams(3, {.begins = "begins"});
  CHECK_FALSE(iterate(marking.batch(3).repeat(2))->source_rows());
  CHECK_FALSE(iterate(marking.map("same", same).batch(3))->source_rows());
  CHECK_FALSE(iterate(numbered(17).window(3, 2).streams(2).batch(2))->source_rows());
}

TEST_CASE("the number of streams is known behind every stage that keeps them") {
  const auto known = [](const dataset& d) { return d.last_stage()->streams(); };
  const auto data = numbered(24).streams(4);
  for (const auto& d :
       {data, data.map("same", same), data.repeat(2), data.repeat(), data.batch(4), data.batch(4).take(3).skip(1),
        data.map("same", same).batch(4).repeat().take(100), with_row_numbers(data.batch(4), "row")}) {
    CAPTURE(d.to_text());
    CHECK(known(d) == 4);
  }
  for (const auto& d : {numbered(24), numbered(24).shuffle().batch(4).repeat(), numbered(24).window(2, 2), dataset{}})
    CHECK(known(d) == 0);
  const dataset own{std::make_shared<aligned_stage>()};
  CHECK(known(own.map("same", same).batch(4).repeat(2).take(5).skip(1)) == 4);
}

TEST_CASE("reading streams allocates nothing, and the many components of an example are read") {
  auto it = iterate(numbered(1000).window(3, 2).streams(40, {.begins = "begins"}).batch(40).repeat());
  std::vector<int64_t> ids(120);
  bool begins[40];
  std::byte* into[] = {reinterpret_cast<std::byte*>(begins), reinterpret_cast<std::byte*>(ids.data())};
  check_no_allocations(*it, into);

  std::vector<std::pair<std::string, tensor>> features;
  for (int64_t i = 0; i < 150; ++i)
    features.emplace_back("feature " + std::to_string(i), tensor::of<int64_t>({4}, {i, i + 1, i + 2, i + 3}));
  const auto wide = dataset::from_tensors(features);
  REQUIRE(wide);
  auto wide_it = iterate(wide->streams(2, {.begins = "feature"}).batch(2));
  std::vector<std::array<int64_t, 2>> columns(151);
  std::vector<std::byte*> to;
  for (auto& c : columns)
    to.push_back(reinterpret_cast<std::byte*>(c.data()));
  REQUIRE(wide_it->read(to, {}));
  std::set<std::array<int64_t, 2>> values(columns.begin() + 1, columns.end());
  CHECK(values.size() == 150);
  CHECK(*values.begin() == std::array<int64_t, 2>{0, 2});
  CHECK(*values.rbegin() == std::array<int64_t, 2>{149, 151});
}

TEST_CASE("streams that cannot be are refused, saying why") {
  const auto data = numbered(8);
  CHECK(refusal(data.streams(0)).message == "an epoch is divided into at least 1 stream, not 0");
  CHECK(names(refusal(data.streams(-3)), "not -3"));
  CHECK(names(refusal(data.streams(9)), "streams(9) leaves nothing of the 8 elements before it"));
  CHECK(names(refusal(data.batch(2).streams(2)), "streams(2) follows batch(2): divide into streams first"));
  CHECK(names(refusal(data.repeat().streams(2)),
              "streams follows an endless repeat: divide into streams first, and repeat them"));
  const auto labelled = dataset::from_tensors({{"id", tensor::zeros(dtype::int64, {8})}},
                                              {{"next", tensor::zeros(dtype::int64, {8})}});
  for (const std::string name : {"id", "next"})
    CHECK(names(refusal(labelled->streams(2, {.begins = name})),
                "streams(2, " + name + "): the dataset already has a component '" + name + "': choose another name"));
  CHECK(names(refusal(data.streams(2, {.begins = "two\nlines"})), "the feature of streams has a line break"));
  for (const auto& d : {data.streams(0), data.streams(9), data.batch(2).streams(2), data.repeat().streams(2),
                        data.streams(2, {.begins = "id"}), data.streams(2, {.begins = "two\nlines"})})
    CHECK(refusal(d).category == errc::invalid_argument);
  const auto in_order = dataset::from_generator(
      data.spec(), []() -> expected<std::optional<example_tensors>> { return std::optional<example_tensors>{}; });
  REQUIRE(in_order);
  CHECK(refusal(in_order->streams(2)).category == errc::unimplemented);
  CHECK(names(refusal(in_order->streams(2)),
              "streams needs a source that can be read in any order, which generator cannot"));
}

TEST_CASE("a stage that would break the rows of streams apart is refused, naming the stage and what to do") {
  const auto data = numbered(24).streams(4, {.begins = "begins"});
  const std::string apart = " follows streams(4) and would break its rows apart: ";
  const auto why = [](const dataset& d) {
    const error e = refusal(d);
    CHECK(e.category == errc::invalid_argument);
    return e.message;
  };
  const std::string shuffle_first = apart + "shuffle documents or windows before streams";
  CHECK(why(data.shuffle()) == "shuffle" + shuffle_first);
  CHECK(why(data.batch(4).shuffle(3)) == "shuffle(seed = 3)" + shuffle_first);
  CHECK(why(data.map("same", same).batch(4).repeat().shuffle()) == "shuffle" + shuffle_first);
  CHECK(why(data.take(8)) == "take(8)" + apart + "take examples before streams, or batches after batch");
  CHECK(why(data.repeat().skip(4)) == "skip(4)" + apart + "skip examples before streams, or batches after batch");
  CHECK(why(data.window(2, 2)) == "window(2, 2)" + apart + "cut windows before streams");
  CHECK(why(data.streams(2)) == "streams(2)" + apart + "divide an epoch into streams once");
}

}  // namespace troupe
