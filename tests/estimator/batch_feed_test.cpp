#include "small_start.hpp"
#include "tests/support/has.hpp"

#include <troupe/batch_feed.hpp>

#include <doctest/doctest.h>

#include <thread>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

element_spec one_number() { return {.features = {{"x", dtype::float32, {2}}}, .labels = {{"y", dtype::int32, {}}}}; }

/// A batch of three rows of which each has the number.
example_tensors batch_of(float number) {
  return {{{"x", tensor::of<float>({3, 2}, std::vector<float>(6, number))}},
          {{"y", tensor::of<int32_t>({3}, {0, 1, 2})}}};
}

/// The number of the next batch; nothing at the end.
std::optional<float> next_of(dataset_iterator& it) {
  std::vector<float> x(6);
  std::vector<int32_t> y(3);
  std::byte* into[] = {reinterpret_cast<std::byte*>(x.data()), reinterpret_cast<std::byte*>(y.data())};
  const auto rows = it.read(into, {});
  if (!rows) {
    CHECK_MESSAGE(rows.error().category == errc::out_of_range, to_text(rows.error()));
    return std::nullopt;
  }
  CHECK(*rows == 3);
  CHECK(y == std::vector<int32_t>{0, 1, 2});
  CHECK(std::count(x.begin(), x.end(), x[0]) == 6);
  return x[0];
}

std::unique_ptr<dataset_iterator> reader_of(const batch_feed& feed) {
  auto it = feed.input().last_stage()->iterate({});
  REQUIRE_MESSAGE(it, to_text(it.error()));
  return std::move(*it);
}

/// Feeds `batches` batches, and then ends or fails.
void feed(coordinator& c, const batch_feed& to, int64_t batches, std::optional<error> end = {}) {
  int64_t made = 0;
  feed_from(c, to, "feeder", [&]() -> expected<std::optional<example_tensors>> {
    if (made < batches)
      return batch_of(static_cast<float>(made++));
    return end ? expected<std::optional<example_tensors>>{fail(*end)} : std::nullopt;
  });
}

}  // namespace

TEST_CASE("[SUP-33] with three feeders the data end with the third, and what was put before can be read") {
  batch_feed to{one_number(), {.batch_size = 3, .capacity = 9, .feeders = 3}};
  const auto it = reader_of(to);
  coordinator c;
  feed(c, to, 2);
  feed(c, to, 1, error{errc::out_of_range, "no more"});  // Clean, as the end is.
  CHECK(next_of(*it) == 0.0f);
  CHECK(next_of(*it) == 1.0f);
  CHECK(next_of(*it) == 0.0f);
  feed(c, to, 3);
  for (const float number : {0.0f, 1.0f, 2.0f})
    CHECK(next_of(*it) == number);
  CHECK_FALSE(next_of(*it));
  CHECK_FALSE(c.should_stop());
  const auto late = to.put(batch_of(1));
  REQUIRE_FALSE(late);
  CHECK(late.error().category == errc::state);
}

TEST_CASE("[SUP-33] an error of a feeder stops all and reaches the reader, unless it is clean") {
  batch_feed to{one_number(), {.batch_size = 3}};
  const auto it = reader_of(to);
  coordinator clean{{.clean = {errc::out_of_range, errc::cancelled}}};
  batch_feed other{one_number(), {.batch_size = 3}};
  feed(clean, other, 1, error{errc::cancelled, "called off"});
  CHECK_FALSE(clean.should_stop());
  const auto rest = reader_of(other);
  CHECK(next_of(*rest) == 0.0f);
  CHECK_FALSE(next_of(*rest));
  coordinator c;
  feed(c, to, 1, error{errc::not_found, "no file"});
  CHECK(c.should_stop());
  CHECK(c.requested_error()->message == "no file");
  CHECK(next_of(*it) == 0.0f);
  std::byte* none[2] = {};
  const auto failed = it->read(none, {});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().category == errc::not_found);
}

TEST_CASE(
    "a feed fails with whatever it is told, though an error of that category would say that the data have ended") {
  for (const auto category : {errc::out_of_range, errc::cancelled}) {
    batch_feed to{one_number(), {.batch_size = 3}};
    to.fail({category, "row 7 of clicks.csv has 3 columns"});
    std::byte* none[2] = {};
    const auto failed = reader_of(to)->read(none, {});
    REQUIRE_FALSE(failed);
    CHECK(failed.error() == error{errc::state, "row 7 of clicks.csv has 3 columns"});
  }
}

TEST_CASE("a feed takes no further stage, as the stage could not go back to batches that are gone") {
  const batch_feed to{one_number(), {.batch_size = 3, .forgets = true}};
  for (const auto& input : {to.input().take(7), to.input().repeat(), to.input().shard(2, 0)}) {
    const auto refused = input.last_stage()->iterate({});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().category == errc::invalid_argument);
    CHECK(has(refused.error().message, "follows a batch feed: put into the feed what it is to give"));
  }
}

TEST_CASE("a feed that was moved from is the same one as the other") {
  batch_feed to{one_number(), {.batch_size = 3, .capacity = 1}};
  batch_feed other = std::move(to);
  REQUIRE(to.put(batch_of(7)));
  CHECK(other.put(batch_of(8), 0ms).error().category == errc::deadline_exceeded);
  to.cancel();
  CHECK(other.put(batch_of(8)).error().category == errc::cancelled);
}

TEST_CASE("[SUP-33] a stop releases a feeder that waits for room") {
  batch_feed to{one_number(), {.batch_size = 3, .capacity = 1}};
  coordinator c;
  REQUIRE(to.put(batch_of(7)));
  std::thread waits{[&] { feed(c, to, 100); }};
  CHECK(c.request_stop());
  waits.join();
  CHECK(c.join());  // That it was cancelled is no error.
  const auto it = reader_of(to);
  CHECK(next_of(*it) == 7.0f);
  CHECK_FALSE(next_of(*it));
  CHECK(to.put(batch_of(1)).error().category == errc::cancelled);
}

TEST_CASE("[SUP-33] a second reading of a feed is refused while one is under way, and so are several hosts") {
  batch_feed to{one_number(), {.batch_size = 3}};
  {
    const auto it = reader_of(to);
    const auto second = to.input().last_stage()->iterate({});
    REQUIRE_FALSE(second);
    CHECK(second.error().category == errc::failed_precondition);
    CHECK(has(second.error().message, "feed is read by one input of one job at a time"));
  }
  CHECK(to.input().last_stage()->iterate({.hosts = 2}).error().category == errc::failed_precondition);
  reader_of(to);
}

TEST_CASE("a full feed makes those who bring wait, at most for their patience") {
  batch_feed to{one_number(), {.batch_size = 3, .capacity = 2}};
  REQUIRE(to.put(batch_of(1)));
  REQUIRE(to.put(batch_of(2)));
  const auto late = to.put(batch_of(3), 1ms);
  REQUIRE_FALSE(late);
  CHECK(late.error().category == errc::deadline_exceeded);
  CHECK(has(late.error().message, "2 batches wait to be read"));
  const auto it = reader_of(to);
  std::thread brings{[&] { CHECK(to.put(batch_of(4))); }};
  CHECK(next_of(*it) == 1.0f);
  brings.join();
  CHECK(next_of(*it) == 2.0f);
  CHECK(next_of(*it) == 4.0f);
}

TEST_CASE("batches of another form are refused where they are put, and feeds that cannot be where they are read") {
  batch_feed to{one_number(), {.batch_size = 3, .name = "rows"}};
  const auto refused = [&](example_tensors batch) {
    const auto put = to.put(std::move(batch));
    REQUIRE_FALSE(put);
    CHECK(put.error().category == errc::invalid_argument);
    return put.error().message;
  };
  auto batch = batch_of(1);
  batch.features["z"] = batch.features["x"];
  CHECK(has(refused(batch), "rows: the batch has a feature 'z'"));
  CHECK(has(refused({{}, batch.labels}), "rows: the batch has no feature 'x'"));
  batch = batch_of(1);
  batch.features["x"] = tensor::zeros(dtype::float32, {2, 2});
  CHECK(has(refused(batch), "feature 'x' is float32[2, 2], not float32[3, 2]"));
  batch = batch_of(1);
  batch.labels["y"] = tensor::zeros(dtype::int64, {3});
  CHECK(has(refused(batch), "label 'y' is int64[3], not int32[3]"));
  const auto unreadable = [](element_spec spec, batch_feed_options o) {
    return batch_feed{std::move(spec), std::move(o)}.input().last_stage()->iterate({}).error().category;
  };
  CHECK(unreadable({}, {}) == errc::invalid_argument);
  CHECK(unreadable(one_number(), {.batch_size = 0}) == errc::invalid_argument);
  CHECK(unreadable(one_number(), {.capacity = 0}) == errc::invalid_argument);
  CHECK(unreadable(one_number(), {.feeders = 0}) == errc::invalid_argument);
  CHECK(unreadable(one_number(), {.name = ""}) == errc::invalid_argument);
}

TEST_CASE("a job trains on what threads bring; with checkpoints only if the feed forgets") {
  const auto rows = small_dataset(4).batch(4);
  const element_spec spec = rows.spec();
  example_tensors batch;
  batch.features["x"] = tensor::zeros(dtype::float32, {4, 8});
  batch.labels["y"] = tensor::zeros(dtype::int32, {4});
  const auto train_on = [&](bool forgets, const std::string& directory) {
    batch_feed to{spec, {.batch_size = 4, .capacity = 2, .feeders = 2, .forgets = forgets}};
    auto estimator = small_estimator(directory);
    coordinator c;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&, made = 0]() mutable {
        feed_from(c, to, "feeder", [&]() -> expected<std::optional<example_tensors>> {
          return made++ < 10 ? std::optional{batch} : std::nullopt;
        });
      });
    auto result = train(estimator, {.input = to.input(), .max_steps = 100});
    to.cancel();
    for (auto& t : threads)
      t.join();
    return result;
  };
  const temporary_directory here;
  const auto trained = train_on(true, here.path + "/forgets");
  REQUIRE_MESSAGE(trained, why(trained));
  CHECK(trained->global_step == 20);
  const auto refused = train_on(false, here.path + "/keeps");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().category == errc::unimplemented);
  CHECK(has(refused.error().message, "the position of feed cannot be saved"));
}

TEST_CASE("[SUP-33] a stop that passes is not the end of the data, and a feeder that was preempted goes on") {
  batch_feed to{one_number(), {.batch_size = 3, .capacity = 1}};
  coordinator c{{.passing = {errc::aborted}}};
  std::byte* none[2] = {};
  auto it = reader_of(to);
  float calls = 0;
  std::thread brings{[&] {
    feed_from(c, to, "feeder", [&]() -> expected<std::optional<example_tensors>> {
      ++calls;
      return calls == 4 ? expected<std::optional<example_tensors>>{fail(errc::aborted, "preempted")} : batch_of(calls);
    });
  }};
  CHECK(next_of(*it) == 1.0f);
  CHECK(c.request_stop(error{errc::aborted, "somebody else was preempted"}));
  CHECK_FALSE(c.join({.begins_anew = true}));
  CHECK(next_of(*it) == 2.0f);
  CHECK(next_of(*it) == 3.0f);
  const auto interrupted = it->read(none, {});
  REQUIRE_FALSE(interrupted);
  CHECK(interrupted.error().category == errc::cancelled);
  CHECK(c.requested_error()->message == "preempted");
  CHECK_FALSE(it->read(none, {}));
  CHECK_FALSE(c.join({.begins_anew = true}));
  it.reset();
  it = reader_of(to);
  for (const float number : {5.0f, 6.0f})
    CHECK(next_of(*it) == number);
  SUBCASE("until all ends") {
    CHECK(c.request_stop(error{errc::aborted, "preempted"}));
    CHECK_FALSE(c.join());
  }
  SUBCASE("until the feed is cancelled") { to.cancel(); }
  brings.join();
  while (next_of(*it)) {}
}

TEST_CASE("a feeder that was preempted, and is not to go on, returns") {
  batch_feed to{one_number(), {.batch_size = 3}};
  coordinator c{{.passing = {errc::aborted}}};
  const auto it = reader_of(to);
  std::thread brings{[&] { feed(c, to, 0, error{errc::aborted, "preempted"}); }};
  CHECK(c.wait_for_stop(soon));
  SUBCASE("its feed is cancelled") { to.cancel(); }
  SUBCASE("all ends") { CHECK_FALSE(c.join()); }
  brings.join();
  CHECK_FALSE(next_of(*it));
}

}  // namespace troupe::test
