// Prediction streams on real threads, as a user's program calls them.
#include "support/prediction_case.hpp"
#include "support/temporary_directory.hpp"
#include "support/threads.hpp"
#include "support/troubled_dataset.hpp"
#include "tests/support/has.hpp"

#include <troupe/canned_models.hpp>
#include <troupe/predict.hpp>

#include <doctest/doctest.h>

#include <thread>

namespace troupe::test {

namespace {

estimator echo(std::optional<std::string> model_dir = {}) {
  return {echo_model(), {.model_dir = std::move(model_dir)}};
}

prediction_stream stream_of(const estimator& e, predict_spec spec) {
  auto stream = predict(e, spec);
  REQUIRE_MESSAGE(stream, (stream ? "" : to_text(stream.error())));
  return std::move(*stream);
}

/// Takes the next result, which must exist.
prediction taken(prediction_stream& stream) {
  auto next = stream.next();
  REQUIRE_MESSAGE(next, (next ? "" : to_text(next.error())));
  REQUIRE(next->has_value());
  return **next;
}

std::vector<float> rest_of(prediction_stream& stream) {
  std::vector<float> rows;
  for (auto next = stream.next(); next && *next; next = stream.next())
    rows.push_back((*next)->values.at("scaled").as<float>()[0]);
  return rows;
}

std::string message_of(prediction_stream& stream) {
  const auto next = stream.next();
  REQUIRE_FALSE(next);
  CHECK(next.error().category == errc::invalid_argument);
  CHECK_MESSAGE(stream.next().error() == next.error(), "an error is told again");
  return next.error().message;
}

/// Two numbers a and b with the label a + 2 b, which a linear model can fit.
dataset sums(int64_t examples) {
  std::vector<float> a(static_cast<size_t>(examples)), b(a), sum(a);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 7) / 7;
    b[i] = static_cast<float>(i % 5) / 5;
    sum[i] = a[i] + 2 * b[i];
  }
  return *dataset::from_tensors({{"a", tensor::of<float>({examples}, a)}, {"b", tensor::of<float>({examples}, b)}},
                                {{"sum", tensor::of<float>({examples}, sum)}});
}

}  // namespace

TEST_CASE("[EST-36] a stream gives one map a row, in order, each value without the batch axis, and its words") {
  const auto source = fake_batches(3, 2);
  auto stream = stream_of(echo(), {.input = dataset_over(source)});
  for (int64_t i = 0; i < 10; ++i) {
    const auto one = taken(stream);
    const auto row = static_cast<int32_t>(i % 4);
    CHECK(one.values.size() == 3);
    CHECK(one.values.at("scaled") == tensor::scalar(static_cast<float>(100 * (i / 4) + row)));
    CHECK(one.values.at("pair") == tensor::of<int32_t>({2}, {static_cast<int32_t>(i / 4), row}));
    CHECK(one.texts.at("place")
          == std::vector<std::string>{
              std::vector<std::string>{"first", "second", "third", "fourth"}[static_cast<size_t>(row)]});
  }
  CHECK_FALSE(*stream.next());
  CHECK_FALSE(*stream.next());
}

TEST_CASE("predictions are a range, which ends with the data, and a second loop goes on where the first one stopped") {
  static_assert(std::input_iterator<prediction_stream::iterator>);
  static_assert(std::sentinel_for<std::default_sentinel_t, prediction_stream::iterator>);
  auto stream = stream_of(echo(), {.input = dataset_over(fake_batches(3, 2))});
  std::vector<float> rows;
  for (const auto& one : stream) {
    rows.push_back(one.values.at("scaled").as<float>()[0]);
    if (rows.size() == 6)
      break;
  }
  for (const auto& one : stream)
    rows.push_back(one.values.at("scaled").as<float>()[0]);
  CHECK(rows == std::vector<float>{0, 1, 2, 3, 100, 101, 102, 103, 200, 201});
  CHECK(stream.status());
  CHECK(stream.begin() == stream.end());
}

TEST_CASE("an error ends the range of predictions, after all that precede it, and is the status from then on") {
  auto stream = stream_of(echo(), {.input = dataset_over(fake_batches(3, 2)), .keys = {"scaled", "other"}});
  CHECK(stream.status());
  for ([[maybe_unused]] const auto& one : stream)
    FAIL("there is no prediction of that name");
  const auto status = stream.status();
  REQUIRE_FALSE(status);
  CHECK(status.error().category == errc::invalid_argument);
  CHECK(status.error() == stream.next().error());
}

TEST_CASE("[EST-36] whole batches come as the model yields them") {
  auto stream = stream_of(
      echo(), {.input = dataset_over(fake_batches(3, 2)), .keys = {"scaled", "place"}, .single_examples = false});
  for (int64_t batch = 0; batch < 3; ++batch) {
    const auto one = taken(stream);
    const int64_t rows = batch < 2 ? 4 : 2;
    CHECK(one.values.size() == 1);
    CHECK(one.values.at("scaled").dims() == shape{rows});
    CHECK(one.texts.at("place").size() == static_cast<size_t>(rows));
    CHECK(one.texts.at("place")[1] == "second");
  }
  CHECK_FALSE(*stream.next());
}

TEST_CASE("[EST-36] nothing is opened, read or built before the first result is asked for, and no thread is there") {
  const auto source = fake_batches(3);
  auto e = echo();
  int built = 0;
  e.model.build = [&built, inner = e.model.build](graph& g, const features& x, const labels& y, mode m) {
    ++built;
    return inner(g, x, y, m);
  };
  const auto before = threads();
  const auto known = thread_ids();
  {
    auto stream = stream_of(e, {.input = dataset_over(source)});
    CHECK(source->opened == 0);
    CHECK(built == 0);
    CHECK(no_thread_since(known));
    taken(stream);
    CHECK(source->opened > 0);
    CHECK(built > 0);
    CHECK(threads() > before);
  }
  CHECK(threads_fall_to(before));
}

TEST_CASE("[DF-63] a stream that is left after three results ends its actors and threads") {
  const auto before = threads();
  for (int64_t ahead : {0, 1, 16}) {
    auto stream = stream_of(echo(), {.input = dataset_over(fake_batches(INT64_MAX)), .batches_ahead = ahead});
    for (int i = 0; i < 3; ++i)
      taken(stream);
    CHECK(threads() > before);
  }
  CHECK(threads_fall_to(before));
}

TEST_CASE("a stream that reached its end, or an error, holds no thread any more") {
  const auto before = threads();
  auto source = fake_batches(3);
  SUBCASE("the end") {}
  SUBCASE("an error") { source->trouble[2] = error{errc::data_loss, "record 8 is damaged"}; }
  auto stream = stream_of(echo(), {.input = dataset_over(source)});
  CHECK(rest_of(stream) == rows_of(*source, source->trouble.empty() ? 3 : 2));
  CHECK(threads_fall_to(before));
  const auto again = stream.next();
  CHECK(again.has_value() == source->trouble.empty());
}

TEST_CASE("two interleaved streams of one estimator give what each would alone") {
  const auto e = echo();
  const auto first_source = fake_batches(30, 3), second_source = fake_batches(20, 1);
  auto first = stream_of(e, {.input = dataset_over(first_source), .batches_ahead = 1});
  auto second = stream_of(e, {.input = dataset_over(second_source), .batches_ahead = 3});
  std::vector<float> of_first, of_second;
  for (int i = 0; i < 70; ++i) {
    of_first.push_back(taken(first).values.at("scaled").as<float>()[0]);
    of_second.push_back(taken(second).values.at("scaled").as<float>()[0]);
  }
  for (float x : rest_of(first))
    of_first.push_back(x);
  for (float x : rest_of(second))
    of_second.push_back(x);
  CHECK(of_first == rows_of(*first_source, 30));
  CHECK(of_second == rows_of(*second_source, 20));
}

TEST_CASE("data without labels predict as data with them do, and data without an example give no result") {
  const estimator e{dnn_regressor({.hidden_units = {4}}), {.seed = 3}};
  const auto x = tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto bare = *dataset::from_tensors({{"x", x}});
  const auto labelled = *dataset::from_tensors({{"x", x}}, {{"y", tensor::of<float>({3}, {1, 2, 3})}});
  auto first = stream_of(e, {.input = bare.batch(2)}), second = stream_of(e, {.input = labelled.batch(2)});
  for (int i = 0; i < 3; ++i)
    CHECK(taken(first).values.at("predictions") == taken(second).values.at("predictions"));
  CHECK_FALSE(*first.next());
  auto none = stream_of(e, {.input = dataset::from_tensors({{"x", tensor::zeros(dtype::float32, {0, 2})}})->batch(2)});
  const auto next = none.next();
  REQUIRE_MESSAGE(next, (next ? "" : to_text(next.error())));
  CHECK_FALSE(*next);
}

TEST_CASE("an impossible request is refused at once, and an error of the model comes with the first result") {
  const auto input = dataset_over(fake_batches(3));
  const auto refused = [&](predict_spec spec) {
    const auto stream = predict(echo(), spec);
    REQUIRE_FALSE(stream);
    CHECK(stream.error().category == errc::invalid_argument);
    return stream.error().message;
  };
  CHECK(refused({.input = input, .checkpoint = checkpoint_ref::of_step(-2)})
        == "the step of a checkpoint must be at least 0, not -2");
  CHECK(refused({.input = input, .batches_ahead = -1})
        == "prediction: batches_ahead must be in [0, 2147483647], not -1");
  CHECK(refused({.input = input, .keys = {"row", "row"}}) == "the key 'row' is given twice");
  CHECK_FALSE(predict(estimator{model{"empty", {}}, {}}, {.input = input}));
  auto unknown = stream_of(echo(), {.input = input, .keys = {"rows"}});
  CHECK(message_of(unknown) == "the model predicts no 'rows'; there are 'pair', 'place', 'row', 'scaled'");
  auto few = echo();
  few.model.texts["place"].words = {"first", "second"};
  auto stream = stream_of(few, {.input = input});
  taken(stream);
  taken(stream);
  CHECK(message_of(stream) == "the text 'place' has 2 words, and 'row' is 2");
}

TEST_CASE("a stream that is cancelled from another thread says so, also while its input waits") {
  std::atomic<bool> inside{false};
  const auto waits = [&inside]() -> expected<void> {
    inside = true;
    inside.notify_all();
    // Blocks until it is released, else longer than the stream's destructor would wait.
    inside.wait(true);
    return {};
  };
  auto node = std::make_shared<troubled_stage>(dataset_over(fake_batches(9)).last_stage(), 2, waits);
  const auto before = threads();
  {
    auto stream = stream_of(echo(), {.input = dataset{node}, .batches_ahead = 0});
    for (int i = 0; i < 8; ++i)
      taken(stream);
    std::jthread other{[&] {
      inside.wait(false);
      stream.cancel();
      inside = false;
      inside.notify_all();
    }};
    const auto next = stream.next();
    REQUIRE_FALSE(next);
    CHECK(next.error().category == errc::cancelled);
  }
  CHECK(threads_fall_to(before));
  auto early = stream_of(echo(), {.input = dataset_over(fake_batches(9))});
  early.cancel();
  CHECK(early.next().error().category == errc::cancelled);
}

TEST_CASE("a stream says which checkpoint it is of, and that there is none") {
  auto bare = stream_of(echo(), {.input = dataset_over(fake_batches(1))});
  CHECK(bare.remark().empty());
  taken(bare);
  CHECK(bare.checkpoint().empty());
  CHECK(has(bare.remark(), "freshly initialised"));

  const temporary_directory directory;
  const auto dir = directory / "m";
  const estimator e{linear_regressor({.optimizer = gradient_descent{.rate = 0.2f}}),
                    {.model_dir = dir, .save_checkpoints_steps = 50, .keep_checkpoint_max = 20}};
  auto empty = stream_of(e, {.input = sums(4).batch(2)});
  CHECK(taken(empty).values.at("predictions") == tensor::of<float>({1}, {0}));
  CHECK(empty.remark() == dir + " has no checkpoint: these are predictions of freshly initialised variables");

  REQUIRE(train(e, {.input = sums(35).batch(35).repeat(), .max_steps = 400}));
  auto stream = stream_of(e, {.input = sums(35).batch(8)});
  for (int i = 0; i < 35; ++i) {
    const float want = static_cast<float>(i % 7) / 7 + 2 * static_cast<float>(i % 5) / 5;
    CHECK(taken(stream).values.at("predictions").as<float>()[0] == doctest::Approx(want).epsilon(0.02));
  }
  CHECK_FALSE(*stream.next());
  CHECK(stream.checkpoint() == dir + "/model.ckpt-400");
  CHECK(stream.global_step() == 400);
  CHECK(stream.remark().empty());
  auto at_start = stream_of(e, {.input = sums(4).batch(2), .checkpoint = checkpoint_ref::of_step(0)});
  CHECK(taken(at_start).values.at("predictions") == tensor::of<float>({1}, {0}));
  CHECK(at_start.global_step() == 0);
  auto absent = stream_of(e, {.input = sums(4).batch(2), .checkpoint = checkpoint_ref::of_step(399)});
  CHECK(absent.next().error().category == errc::not_found);
  CHECK(absent.remark().empty());
}

TEST_CASE("a stream that was moved from answers every call, and the results come from the other") {
  auto stream = stream_of(echo(), {.input = dataset_over(fake_batches(3, 2))});
  taken(stream);
  auto other = std::move(stream);
  const error wanted{errc::state, "the handle holds no stream: it was moved from"};
  CHECK(stream.next().error() == wanted);
  CHECK(stream.status().error() == wanted);
  CHECK(stream.begin() == stream.end());
  CHECK(stream.checkpoint().empty());
  CHECK(stream.remark().empty());
  CHECK(stream.global_step() == 0);
  stream.cancel();
  CHECK(taken(other).values.at("scaled") == tensor::scalar(1.f));
  stream = std::move(other);
  CHECK(taken(stream).values.at("scaled") == tensor::scalar(2.f));
}

}  // namespace troupe::test
