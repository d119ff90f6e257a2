#include "input/streams/streamed.hpp"

#include "reading.hpp"

namespace troupe {

namespace {

/// A source that counts from 0 to `count`. It can be stopped, fails at `fails_at`, and saves its position if `saves` is
/// true.
struct counter_options {
  int64_t count = 0;
  int64_t fails_at = -1;
  bool saves = true;
  int64_t rows = 1;  ///< What its reads return, and that it has written only if it is 1.
};

class counter_iterator final : public dataset_iterator {
 public:
  counter_iterator(element_spec spec, counter_options options) : spec_(std::move(spec)), options_(options) {}

  const element_spec& spec() const noexcept override { return spec_; }
  int64_t batch_rows() const noexcept override { return 1; }
  expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token& stop) override {
    if (stop.stop_requested())
      return fail(errc::cancelled, "counter was stopped");
    if (next_ == options_.fails_at)
      return fail(errc::unavailable, "counter failed at " + std::to_string(next_));
    if (next_ >= options_.count)
      return fail(errc::out_of_range, "counter ended");
    std::memcpy(into[0], &next_, sizeof next_);
    ++next_;
    return options_.rows;
  }
  expected<std::string> save() const override {
    if (!options_.saves)
      return fail(errc::unimplemented, "counter cannot be saved");
    return std::to_string(next_);
  }
  expected<void> restore(std::string_view state) override {
    next_ = std::stoll(std::string{state});
    return {};
  }

 private:
  element_spec spec_;
  counter_options options_;
  int64_t next_ = 0;
};

class counter final : public dataset_stage {
 public:
  explicit counter(counter_options options) : options_(options) {}
  element_spec spec() const override { return {{{"id", dtype::int64, {}}}, {}}; }
  std::string to_text() const override { return "counter"; }
  std::optional<int64_t> source_size() const override { return {}; }
  std::optional<int64_t> elements(bool) const override { return {}; }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options&) const override {
    return std::make_unique<counter_iterator>(spec(), options_);
  }

 private:
  counter_options options_;
};

dataset counting_to(int64_t count) { return dataset{std::make_shared<counter>(counter_options{.count = count})}; }

}  // namespace

TEST_CASE("a source of one's own is read as it is") {
  const auto data = counting_to(3);
  CHECK(read(data) == batches{{0}, {1}, {2}});
  CHECK(data.to_text() == "counter");
  CHECK(data.spec().features.at(0).name == "id");
}

TEST_CASE("a source of single examples that returns another number of them is refused by what joins or changes them") {
  const auto same = [](const example_tensors& e) -> expected<example_tensors> { return e; };
  for (const int64_t rows : {0, 2}) {
    const dataset own{std::make_shared<counter>(counter_options{.count = 9, .rows = rows})};
    for (const auto& data : {own.batch(3), own.map("same", same)}) {
      int64_t ids[3];
      std::byte* into[] = {reinterpret_cast<std::byte*>(ids)};
      const auto read = iterate(data)->read(into, {});
      REQUIRE_FALSE(read);
      CHECK(read.error().category == errc::invalid_argument);
      CHECK(names(read.error(), "returned " + std::to_string(rows) + " rows, and not 1"));
    }
  }
}

TEST_CASE("batch, repeat, take and skip do to a source of one's own what they do to tensors") {
  const auto own = counting_to(7);
  const auto known = numbered(7);
  const auto same = [&](auto&& made) {
    CAPTURE(made(own).to_text());
    CHECK(read(made(own), {}, 20) == read(made(known), {}, 20));
    CHECK(read(made(own), {.drop_remainder = true}, 20) == read(made(known), {.drop_remainder = true}, 20));
    for (int32_t host : {0, 1, 2})
      CHECK(read(made(own), {.host = host, .hosts = 3}, 20) == read(made(known), {.host = host, .hosts = 3}, 20));
  };
  same([](const dataset& d) { return d.batch(3); });
  same([](const dataset& d) { return d.batch(3, true).repeat(2); });
  same([](const dataset& d) { return d.repeat().batch(5); });
  same([](const dataset& d) { return d.repeat(3).batch(4).skip(1); });
  same([](const dataset& d) { return d.skip(2).take(4).batch(2).repeat(); });
  same([](const dataset& d) { return d.repeat(2).repeat(2).take(20); });
}

TEST_CASE("a source of one's own is resumed after the batch it was saved at") {
  const auto data = counting_to(7).skip(1).repeat(3).batch(4).take(4);
  const auto all = read(data);
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    auto first = iterate(data);
    read(*first, cut);
    auto second = iterate(data);
    REQUIRE(second->restore(first->save().value()));
    CHECK(read(*second) == batches(all.begin() + static_cast<std::ptrdiff_t>(cut), all.end()));
  }
}

TEST_CASE("another number of hosts continues a stream where the first ones stopped") {
  const auto data = counting_to(20).batch(2);
  auto one_of_two = iterate(data, {.host = 0, .hosts = 2});
  read(*one_of_two, 2);  // Both hosts together have read batches 0 to 3.
  batches rest;
  for (int32_t host = 0; host < 3; ++host) {
    auto it = iterate(data, {.host = host, .hosts = 3});
    REQUIRE(it->restore(one_of_two->save().value()));
    for (const auto& one : read(*it))
      rest.push_back(one);
  }
  CHECK(sorted(flat(rest)) == counting(8, 20));
}

TEST_CASE("one host goes on from several, and no number of hosts takes a source for their share that has its name") {
  const auto data = numbered_stream(20, "share");
  for (const int32_t before : {1, 3})
    for (const int32_t after : {1, 2}) {
      auto first = iterate(data, {.host = before - 1, .hosts = before});
      read(*first, 2);
      std::vector<int64_t> rest;
      for (int32_t host = 0; host < after; ++host) {
        auto it = iterate(data, {.host = host, .hosts = after});
        REQUIRE(it->restore(first->save().value()));
        const auto own = flat(read(*it));
        rest.insert(rest.end(), own.begin(), own.end());
      }
      CHECK(sorted(rest) == counting(2 * before, 20));
    }
}

TEST_CASE("a round that cannot be is refused, and the reader stays usable") {
  auto it = iterate(numbered_stream(6), {.host = 1, .hosts = 2});
  CHECK(next(*it) == std::vector<int64_t>{1});
  const std::string source = iterate(numbered_stream(6))->save().value();
  for (const std::string round : {"9223372036854775807 0", "9223372036854775808 0"}) {
    CAPTURE(round);
    CHECK(it->restore("share: " + round + "\n" + source).error().category == errc::invalid_argument);
  }
  CHECK(flat(read(*it)) == std::vector<int64_t>{3, 5});
}

TEST_CASE("the state of another stream is refused, naming both stages") {
  auto state = iterate(counting_to(9).batch(2))->save();
  auto taken = iterate(counting_to(9).batch(3))->restore(*state);
  REQUIRE_FALSE(taken);
  CHECK(taken.error().category == errc::invalid_argument);
  CHECK(names(taken.error(), "saved by 'batch(2)', here is 'batch(3)'"));
}

TEST_CASE("a source that cannot be saved says so through the stages after it") {
  const dataset data{std::make_shared<counter>(counter_options{.count = 9, .saves = false})};
  const auto state = iterate(data.batch(2).repeat())->save();
  REQUIRE_FALSE(state);
  CHECK(state.error().category == errc::unimplemented);
  CHECK(names(state.error(), "counter"));
}

TEST_CASE("an error in the middle of a batch is passed on, and no position is saved after it") {
  const dataset data{std::make_shared<counter>(counter_options{.count = 9, .fails_at = 3})};
  auto it = iterate(data.batch(2));
  CHECK(next(*it) == counting(0, 2));
  int64_t ids[2];
  std::byte* into[] = {reinterpret_cast<std::byte*>(ids)};
  CHECK(it->read(into, {}).error().category == errc::unavailable);
  CHECK(it->save().error().category == errc::state);
  CHECK(it->read(into, {}).error().category == errc::state);
}

TEST_CASE("a stop reaches the source and leaves a position between batches usable") {
  auto it = iterate(counting_to(9).batch(2).repeat());
  CHECK(next(*it) == counting(0, 2));
  std::stop_source stop;
  stop.request_stop();
  int64_t ids[2];
  std::byte* into[] = {reinterpret_cast<std::byte*>(ids)};
  CHECK(it->read(into, stop.get_token()).error().category == errc::cancelled);
  CHECK(it->save());
  CHECK(next(*it) == counting(2, 4));
}

TEST_CASE("what a stream cannot do is refused: a shuffle, windows, a batch of batches, the repeat of nothing") {
  CHECK(refusal(counting_to(9).shuffle().batch(2)).category == errc::unimplemented);
  CHECK(refusal(counting_to(9).window(3, 1).batch(2)).category == errc::unimplemented);
  CHECK(names(refusal(counting_to(9).batch(2).batch(3)), "batch(3) follows batches of 2 rows"));
  auto it = iterate(counting_to(0).repeat());
  int64_t id = 0;
  std::byte* into[] = {reinterpret_cast<std::byte*>(&id)};
  CHECK(it->read(into, {}).error().category == errc::invalid_argument);
}

}  // namespace troupe
