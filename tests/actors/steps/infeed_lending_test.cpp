// An infeed over data in memory, whose batches are sent as they lie there.
#include "input/streams/open_input.hpp"
#include "support/infeed_fixture.hpp"

#include <troupe/dataset.hpp>

namespace troupe::test {

namespace {

struct infeed_of_memory : infeed_alone {
  recorder<block, end_of_data> other = record<block, end_of_data>();
  tensor rows;

  /// Rows in memory, each of `width` times its number.
  void hold(int64_t count, int64_t width, const std::function<dataset(const dataset&)>& stages) {
    std::vector<float> numbers(static_cast<size_t>(count * width));
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<float>(i / static_cast<size_t>(width));
    rows = tensor::of<float>({count, width}, numbers);
    const auto data = dataset::from_tensors({{"x", rows}});
    REQUIRE(data);
    options.open = [all = stages(*data)] { return open_input(all, {}); };
  }
  void start_two() {
    options.edges = {{.id = 0_edge}, {.id = 7_edge}};
    options.deals = true;
    start();
    tell(feed, connect_reader{7_edge, other.as<block_sink_actor>()});
    tell(feed, begin{1, 0, {}});
    for (const auto edge : {0_edge, 7_edge})
      tell(feed, pull{1, edge, 100, 0, 4});
    grant(100);
  }
  bool lies_there(const block& b) const {
    const auto* at = b.components[0].data();
    return rows.data() <= at && at < rows.data() + rows.byte_size();
  }
  /// Of the blocks in order: the first number of each batch.
  static std::vector<float> firsts(recorder<block, end_of_data>& reader) {
    std::vector<float> all;
    for (const auto& b : reader.all<block>())
      for (int64_t i = 0; i < b.count; ++i)
        all.push_back(b.components[0].slice(i * b.rows, 1).as<float>()[0]);
    return all;
  }
};

using spans = std::vector<std::pair<int64_t, int64_t>>;

}  // namespace

TEST_CASE_FIXTURE(infeed_of_memory, "batches that are adjacent in memory are sent as they lie there, many in a block") {
  hold(10, 2048, [](const dataset& d) { return d.batch(3); });
  start_at(0);
  credit(100, 2);
  grant(100);
  CHECK(blocks() == spans{{0, 2}, {2, 1}, {3, 1}});
  const auto all = sink.all<block>();
  CHECK(all[0].components[0] == rows.slice(0, 6));
  CHECK(lies_there(all[0]));
  CHECK(lies_there(all[1]));
  CHECK_MESSAGE(!lies_there(all[2]), "the last one has a single row");
  CHECK(all[2].components[0] == rows.slice(9, 1));
  CHECK(sink.last<end_of_data>().first_missing_step == 4);
}

TEST_CASE_FIXTURE(infeed_of_memory, "a batch that crosses the end of an epoch is copied, and the others are not") {
  hold(5, 2048, [](const dataset& d) { return d.repeat(2).batch(2); });
  start_at(0);
  credit(100, 10);
  grant(100);
  CHECK(firsts(sink) == std::vector<float>{0, 2, 4, 1, 3});
  std::vector<bool> lent;
  for (const auto& b : sink.all<block>())
    lent.push_back(lies_there(b));
  CHECK(lent == std::vector<bool>{true, false});  // Once it reads, it fills the block.
}

TEST_CASE_FIXTURE(infeed_of_memory, "what is shuffled, or made by a function, is copied") {
  std::function<dataset(const dataset&)> stages;
  SUBCASE("shuffled") {
    stages = [](const dataset& d) { return d.shuffle(3).batch(2); };
  }
  SUBCASE("made") {
    stages = [](const dataset& d) {
      return d.map("same", [](const example_tensors& e) -> expected<example_tensors> { return e; }).batch(2);
    };
  }
  hold(8, 2048, stages);
  start_at(0);
  credit(100, 2);
  grant(100);
  REQUIRE(sink.count<block>() > 0);
  for (const auto& b : sink.all<block>())
    CHECK_FALSE(lies_there(b));
}

TEST_CASE_FIXTURE(infeed_of_memory, "a snapshot between lent batches has the position there, and blocks end at it") {
  hold(40, 2048, [](const dataset& d) { return d.batch(2).repeat(); });
  start_at(0);
  credit(100, 8);
  grant(12, {{5, s}});
  CHECK(blocks() == spans{{0, 5}, {5, 7}});
  REQUIRE(parts() == steps{5});
  auto again = *options.open();
  REQUIRE(again->restore(writer.last<snapshot_part>().blobs.at("infeed/0")));
  std::vector<float> next(2 * 2048);
  std::byte* into[] = {reinterpret_cast<std::byte*>(next.data())};
  REQUIRE(again->read(into, {}) == 2);
  CHECK(next[0] == 10);
}

TEST_CASE_FIXTURE(infeed_of_memory, "readers to which large batches are dealt get each as it lies there, in a block") {
  hold(35, 1024, [](const dataset& d) { return d.batch(4); });
  start_two();
  CHECK(firsts(sink) == std::vector<float>{0, 8, 16, 24, 32});
  CHECK(firsts(other) == std::vector<float>{4, 12, 20, 28});
  auto all = sink.all<block>();
  CHECK(all.back().rows == 3);
  all.pop_back();
  for (const auto& b : other.all<block>())
    all.push_back(b);
  for (const auto& b : all) {
    CHECK(b.count == 1);
    CHECK(lies_there(b));
  }
}

TEST_CASE_FIXTURE(infeed_of_memory, "small batches are copied, several to a block") {
  hold(32, 4, [](const dataset& d) { return d.batch(2); });
  start_two();
  CHECK(firsts(sink) == std::vector<float>{0, 4, 8, 12, 16, 20, 24, 28});
  CHECK(firsts(other) == std::vector<float>{2, 6, 10, 14, 18, 22, 26, 30});
  CHECK(sink.count<block>() < 8);
  for (const auto& b : sink.all<block>())
    CHECK_FALSE(lies_there(b));
}

namespace {

/// Lends what it should not: more batches than were asked for, or other components.
class wrong_lender final : public dataset_iterator {
 public:
  explicit wrong_lender(lent_batches what) : what_(std::move(what)) {}
  const element_spec& spec() const noexcept override { return spec_; }
  int64_t batch_rows() const noexcept override { return 2; }
  expected<int64_t> read(std::span<std::byte* const>, const std::stop_token&) override { return 2; }
  expected<lent_batches> lend(int64_t) override { return what_; }
  expected<std::string> save() const override { return std::string{}; }
  expected<void> restore(std::string_view) override { return {}; }

 private:
  lent_batches what_;
  element_spec spec_{{{"x", dtype::float32, {2048}}}, {}};
};

class wrong_stage final : public dataset_stage {
 public:
  explicit wrong_stage(lent_batches what) : what_(std::move(what)) {}
  element_spec spec() const override { return {{{"x", dtype::float32, {2048}}}, {}}; }
  std::string to_text() const override { return "lender"; }
  std::optional<int64_t> source_size() const override { return {}; }
  std::optional<int64_t> elements(bool) const override { return {}; }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options&) const override {
    return std::make_unique<wrong_lender>(what_);
  }

 private:
  lent_batches what_;
};

}  // namespace

TEST_CASE_FIXTURE(infeed_of_memory, "an iterator that lends what it was not asked for ends the job, and is named") {
  lent_batches what{1, {tensor::zeros(dtype::float32, {2, 2048})}};
  SUBCASE("too many") { what = {9, {tensor::zeros(dtype::float32, {18, 2048})}}; }
  SUBCASE("too few rows") { what.components = {tensor::zeros(dtype::float32, {1, 2048})}; }
  SUBCASE("another dtype") { what.components = {tensor::zeros(dtype::int32, {2, 2048})}; }
  SUBCASE("no component") { what.components = {}; }
  SUBCASE("less than nothing") { what.count = -1; }
  SUBCASE("no memory") { what.components = {tensor{dtype::float32, {2, 2048}, nullptr}}; }
  options.open = [what] { return open_input(dataset{std::make_shared<wrong_stage>(what)}, {}); };
  start_at(0);
  credit(100, 4);
  grant(100);
  CHECK(sink.count<block>() == 0);
  REQUIRE(chief.count<input_failed>() == 1);
  CHECK(chief.last<input_failed>().cause.message.find("lend() of the input 'lender' returned") == 0);
}

}  // namespace troupe::test
