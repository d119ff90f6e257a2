// User code that throws exceptions: wherever it is called, the exception becomes an error that names the place.
#include "tests/estimator/small_start.hpp"
#include "tests/support/has.hpp"

#include <troupe/dataset_iterator.hpp>
#include <troupe/inspect.hpp>
#include <troupe/predict.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

namespace troupe::test {

namespace {

/// An endless source of batches of 4 rows that throws in a call which the test chooses.
struct thrower {
  /// The call that throws: "iterate", "to_text", "source_size", "read", "save", "restore", "warnings"; empty: none
  /// does.
  std::string in;
  int64_t from = 0;  ///< How many calls with that name return before one throws.
  bool returns_null = false;
  int64_t rows = 4;
};

class throwing_stage final : public dataset_stage {
 public:
  explicit throwing_stage(thrower how) : how_(std::make_shared<thrower>(std::move(how))) {}
  element_spec spec() const override { return {{{"x", dtype::float32, {8}}}, {{"y", dtype::int32, {}}}}; }
  std::string to_text() const override { return thrown("to_text"), "mine"; }
  std::optional<int64_t> source_size() const override { return thrown("source_size"), std::optional<int64_t>{400}; }
  std::optional<int64_t> elements(bool) const override { return 100; }
  expected<std::unique_ptr<dataset_iterator>> iterate(const iterate_options&) const override {
    thrown("iterate");
    if (how_->returns_null)
      return std::unique_ptr<dataset_iterator>{};
    return std::make_unique<iterator>(*this);
  }

 private:
  class iterator final : public dataset_iterator {
   public:
    explicit iterator(const throwing_stage& node) : how_(node.how_), spec_(node.spec()) {}
    const element_spec& spec() const noexcept override { return spec_; }
    int64_t batch_rows() const noexcept override { return how_->rows; }
    expected<int64_t> read(std::span<std::byte* const> into, const std::stop_token&) override {
      thrown(*how_, "read");
      std::fill_n(into[0], 4 * 8 * sizeof(float), std::byte{0});
      std::fill_n(into[1], 4 * sizeof(int32_t), std::byte{0});
      return how_->rows;
    }
    expected<std::string> save() const override { return thrown(*how_, "save"), "here"; }
    expected<void> restore(std::string_view) override { return thrown(*how_, "restore"), expected<void>{}; }
    std::vector<std::string> warnings() const override { return thrown(*how_, "warnings"), std::vector<std::string>{}; }

   private:
    std::shared_ptr<thrower> how_;
    element_spec spec_;
  };
  static void thrown(thrower& how, std::string_view where) {
    if (how.in == where && how.from-- <= 0)
      throw std::runtime_error{"no disk"};
  }
  void thrown(std::string_view where) const { thrown(*how_, where); }

  std::shared_ptr<thrower> how_;
};

dataset throwing(thrower how) { return dataset{std::make_shared<throwing_stage>(std::move(how))}; }

/// A public call that takes an estimator and an input; `run` returns its error.
struct way_in {
  std::string name;
  std::function<expected<void>(const estimator& e, const dataset& input)> run;
};

template <class T>
expected<void> only_error(expected<T> x) {
  return x ? expected<void>{} : fail(x.error());
}

std::vector<way_in> ways_in() {
  return {
      {"train",
       [](const estimator& e, const dataset& input) { return only_error(train(e, {.input = input, .max_steps = 5})); }},
      {"start",
       [](const estimator& e, const dataset& input) { return only_error(start(e, {.input = input, .max_steps = 5})); }},
      {"evaluate",
       [](const estimator& e, const dataset& input) { return only_error(evaluate(e, {.input = input, .steps = 2})); }},
      {"predict",
       [](const estimator& e, const dataset& input) {
         auto stream = predict(e, {.input = input});
         if (!stream)
           return only_error(std::move(stream));
         for (;;)  // Reads on: an error comes after all earlier results.
           if (auto next = stream->next(); !next || !*next)
             return only_error(std::move(next));
       }},
      {"inspect_graph",
       [](const estimator& e, const dataset& input) { return only_error(inspect_graph(e, input, mode::train)); }},
      {"profile_model",
       [](const estimator& e, const dataset& input) { return only_error(profile_model(e, input, mode::train, 2)); }},
  };
}

/// Checks that every public call except those in `but` returns the error `wanted` and does not throw.
void check_all(const estimator& e, const dataset& input, const std::string& wanted,
               const std::vector<std::string>& but = {}) {
  for (const auto& way : ways_in()) {
    if (std::find(but.begin(), but.end(), way.name) != but.end())
      continue;
    CAPTURE(way.name);
    expected<void> result;
    CHECK_NOTHROW(result = way.run(e, input));
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().message == wanted);
    CHECK(result.error().category == errc::state);
  }
}

estimator kept_nowhere(model source = small_model()) {
  return {std::move(source), {.seed = 7, .save_summary_steps = 0}};
}

}  // namespace

TEST_CASE("a model function that throws is an error that names the model, whoever asks for it") {
  const auto broken = kept_nowhere({"mine", [](graph&, const features&, const labels&, mode) -> model_spec {
                                      throw std::runtime_error{"no layers"};
                                    }});
  check_all(broken, small_dataset().batch(4), "an exception left the function of the model 'mine': no layers");
  const auto silent = kept_nowhere(
      {"mine", [](graph&, const features&, const labels&, mode) -> model_spec { throw 1; }});
  check_all(silent, small_dataset().batch(4), "an exception left the function of the model 'mine'");
}

TEST_CASE("a dataset without a source is an error that says so, whoever reads it") {
  for (const auto& input : {dataset{}, dataset{nullptr}.batch(4)})
    for (const auto& way : ways_in()) {
      CAPTURE(way.name);
      const auto result = way.run(kept_nowhere(), input);
      REQUIRE_FALSE(result.has_value());
      CHECK(result.error().category == errc::invalid_argument);
      CHECK(result.error().message
            == "the dataset has no source: it was made by its default constructor or of a null pointer");
    }
}

TEST_CASE(
    "a stream of the user's trains and evaluates without checkpoints, and with them ends with an error that names it") {
  const auto whole = small_dataset();
  const auto stream = [&] {
    return dataset::from_generator(
               whole.spec(),
               [whole] {
                 const std::shared_ptr<dataset_iterator> it = std::move(*whole.last_stage()->iterate({}));
                 return example_stream{.next = [it]() -> std::optional<example_tensors> {
                   std::array<float, 8> x{};
                   int32_t y = 0;
                   std::byte* into[] = {reinterpret_cast<std::byte*>(x.data()), reinterpret_cast<std::byte*>(&y)};
                   if (auto rows = it->read(into, {}); !rows)
                     return {};
                   return example_tensors{{{"x", tensor::of<float>({8}, std::span<const float>{x})}},
                                          {{"y", tensor::scalar(y)}}};
                 }};
               },
               "sensors")
        .value();
  };
  const auto streamed = train(kept_nowhere(), {.input = stream().take(20).batch(4), .max_steps = 5});
  const auto known = train(kept_nowhere(), {.input = whole.take(20).batch(4), .max_steps = 5});
  REQUIRE_MESSAGE(streamed.has_value(), (streamed ? "" : to_text(streamed.error())));
  CHECK(streamed->metrics == known->metrics);
  CHECK(evaluate(kept_nowhere(), {.input = stream().batch(8)})->metrics
        == evaluate(kept_nowhere(), {.input = whole.batch(8)})->metrics);

  const temporary_directory directory;
  const auto kept = train(small_estimator(directory / "run"), {.input = stream().batch(4), .max_steps = 5});
  REQUIRE_FALSE(kept.has_value());
  CHECK(kept.error().category == errc::unimplemented);
  CHECK(kept.error().message == "the position of sensors cannot be saved: its example_stream has no save and restore");
}

TEST_CASE("a dataset whose iterate throws is an error that names it, whoever asks for it") {
  check_all(kept_nowhere(), throwing({.in = "iterate"}), "an exception left iterate() of the input 'mine': no disk");
  check_all(kept_nowhere(), throwing({.in = "iterate"}).take(3),
            "an exception left iterate() of the input 'mine -> take(3)': no disk");
}

TEST_CASE("a dataset that throws when asked for its text or its size is an error of those who ask") {
  const auto text = throwing({.in = "to_text"});
  const auto trained = train(kept_nowhere(), {.input = text, .max_steps = 5});
  REQUIRE_FALSE(trained.has_value());
  CHECK(trained.error().message == "an exception left to_text() of the input: no disk");
  CHECK(inspect_plan(kept_nowhere(), {.input = text, .max_steps = 5}).error() == trained.error());
  const auto size = throwing({.in = "source_size"});
  CHECK(train(kept_nowhere(), {.input = size, .epochs = 1}).error().message
        == "an exception left source_size() of the input 'mine': no disk");
  auto stream = predict(kept_nowhere(), {.input = size});
  REQUIRE(stream.has_value());
  CHECK(stream->next().error().message == "an exception left source_size() of the input 'mine': no disk");
}

TEST_CASE(
    "an input that throws while it is read is an error that names it, in training, evaluation, prediction and a "
    "profile") {
  for (const auto& way : ways_in()) {
    if (way.name == "start" || way.name == "inspect_graph")
      continue;
    CAPTURE(way.name);
    expected<void> result;
    CHECK_NOTHROW(result = way.run(kept_nowhere(), throwing({.in = "read", .from = 1})));
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().category == errc::state);
    CHECK(result.error().message == "an exception left read() of the input 'mine': no disk");
  }
  const auto staged = train(kept_nowhere(),
                            {.input = throwing({.in = "read", .from = 1}).take(3).repeat(), .max_steps = 5});
  REQUIRE_FALSE(staged.has_value());
  CHECK(staged.error().message == "an exception left read() of the input 'mine -> take(3) -> repeat': no disk");
}

TEST_CASE(
    "an input that throws where its position is saved, restored or warned of is an error that names it and the call") {
  const temporary_directory directory;
  auto kept = small_estimator(directory / "run");
  kept.config.save_checkpoints_steps = 2;
  const auto thrown = [&](const std::string& in, int64_t from = 0) {
    const auto result = train(kept, {.input = throwing({.in = in, .from = from}), .max_steps = 10});
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().category == errc::state);
    CHECK(result.error().source == "infeed/0");
    return result.error().message;
  };
  CHECK(thrown("save") == "an exception left save() of the input 'mine': no disk");
  // This leaves a checkpoint of a job that has not ended.
  CHECK(thrown("read", 6) == "an exception left read() of the input 'mine': no disk");
  CHECK(thrown("restore") == "an exception left restore() of the input 'mine': no disk");
  CHECK(thrown("warnings") == "an exception left warnings() of the input 'mine': no disk");
}

TEST_CASE(
    "an input that opens only once is enough to train; where a second evaluation opens it again its words end the "
    "job") {
  const auto once = throwing({.in = "iterate", .from = 1});
  CHECK(train(kept_nowhere(), {.input = once, .max_steps = 5}).has_value());
  const temporary_directory dir;
  auto kept = small_estimator(dir / "run");
  kept.config.save_checkpoints_steps = 2;
  const auto result = train_and_evaluate(
      kept, {.input = throwing({}), .max_steps = 4},
      {.input = throwing({.in = "iterate", .from = 1}), .steps = 2, .throttle_secs = 0});
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message == "an exception left iterate() of the input 'mine': no disk");
  CHECK(result.error().source == "evaluator/infeed/0");
}

TEST_CASE("an input that cannot be is refused: no iterator, batches of no row") {
  const auto refusal = [](const dataset& input) {
    const auto result = train(kept_nowhere(), {.input = input, .max_steps = 5});
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().category == errc::invalid_argument);
    return result.error().message;
  };
  CHECK(refusal(throwing({.returns_null = true})) == "iterate() of the input 'mine' returned no iterator");
  const auto none = throwing({.returns_null = true, .rows = 1});
  const auto same = [](const example_tensors& e) -> expected<example_tensors> { return e; };
  for (const auto& input : {none.batch(4), none.repeat(), none.take(2), none.map("same", same)})
    CHECK(has(refusal(input), "iterate() of mine returned no iterator"));
  CHECK(refusal(throwing({.rows = 0})) == "batch_rows() of the input 'mine' must be at least 1, not 0");
}

TEST_CASE("an evaluation that fails ends the job, or is a warning where the spec says so") {
  const auto train_with = [](failure_policy policy) {
    const temporary_directory dir;
    const eval_spec evaluation{
        .input = throwing({.in = "read", .from = 1}), .throttle_secs = 0, .on_evaluator_failure = policy};
    return train_and_evaluate(small_estimator(dir / "run"), small_training(8), evaluation);
  };
  const auto failed = train_with(failure_policy::fail);
  REQUIRE_FALSE(failed);
  CHECK(has(why(failed), "no disk"));
  const auto went_on = train_with(failure_policy::go_on);
  REQUIRE_MESSAGE(went_on, why(went_on));
  CHECK(went_on->global_step == 8);
}

}  // namespace troupe::test
