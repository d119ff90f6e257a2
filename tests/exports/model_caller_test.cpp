#include "tests/exports/exported_case.hpp"
#include "tests/input/counted_new.hpp"
#include "tests/support/initialised_export.hpp"

#include <troupe/canned_models.hpp>
#include <troupe/exported_model.hpp>

#include <thread>

namespace troupe {

using namespace test;

namespace {

/// An export of any model over "x" of float32 [4], whose variables have their initial values.
struct one_model {
  temporary_directory directory;
  estimator e;

  explicit one_model(std::function<std::map<std::string, symbol>(graph&, symbol)> f)
    : e{{"one",
         [f](graph& g, const features& x, const labels&, mode m) {
           const symbol w = g.variable({.name = "w", .dims = {1}, .initial = init::ones()});
           return model_spec{.mode = m,
                             .loss = reduce_mean(mul(x["x"], w)),
                             .optimizer = gradient_descent{.rate = 1e-30f},
                             .predictions = f(g, mul(x["x"], w))};
         }},
        small_estimator(directory / "run").config} {
    const auto trained = train(e, {.input = data().batch(2).repeat(), .max_steps = 1});
    REQUIRE_MESSAGE(trained, why(trained));
  }
  static dataset data() { return *dataset::from_tensors({{"x", tensor::of<float>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})}}); }
  exported_model written() const {
    const auto path = export_model(e, {.input = data().batch(2)});
    REQUIRE_MESSAGE(path, why(path));
    return opened(*path);
  }
};

/// Row `row` of a tensor, without the first axis.
tensor row_of(const tensor& t, int64_t row) { return t.slice(row, 1).reshape(t.dims().inner()); }

}  // namespace

TEST_CASE("a caller yields the bits of a prediction job for any number of rows, however it divides them") {
  exported_case c;
  const auto m = opened(c.written());
  const auto want = predicted(c.e, small_dataset(), 48);
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{1, 8, 64}, {1}, {4}, {3, 5}, {}}) {
    auto call = m.caller({.rows = sizes});
    REQUIRE_MESSAGE(call, why(call));
    for (const int64_t rows : {1, 2, 3, 4, 7, 8, 9, 20, 33, 48}) {
      CAPTURE(rows);
      const auto y = call->call({{"x", small_rows(rows)}});
      REQUIRE_MESSAGE(y, why(y));
      REQUIRE(y->size() == want.size());
      for (const auto& [name, rows_of] : want)
        for (int64_t r = 0; r < rows; ++r)
          CHECK(row_of(y->at(name), r) == rows_of[static_cast<size_t>(r)]);
    }
  }
}

TEST_CASE("a call of no rows yields no rows") {
  exported_case c;
  auto call = opened(c.written()).caller();
  CHECK(call->rows_are_apart());
  const auto y = call->call({{"x", small_rows(0)}});
  REQUIRE_MESSAGE(y, why(y));
  CHECK(y->at("probabilities").dims() == shape{0, 3});
}

TEST_CASE("a call of a signature that takes no input has to say how many rows it wants") {
  temporary_directory directory;
  const auto path = export_initialised(baseline_model({.head = regression_head{}}), {{"x", dtype::float32, {4}}},
                                       directory / "m");
  REQUIRE_MESSAGE(path, why(path));
  auto call = opened(*path).caller();
  REQUIRE_MESSAGE(call, why(call));
  CHECK(call->inputs().empty());
  const auto refused = [](const auto& y) {
    REQUIRE_FALSE(y);
    CHECK(y.error().category == errc::invalid_argument);
    CHECK(y.error().message == "the signature takes no input: say the number of rows");
  };
  refused(call->call(std::map<std::string, tensor>{}));
  refused(call->call(std::span<const tensor>{}));
  std::vector<float> y(3, 1.0f);
  std::byte* const outputs[] = {reinterpret_cast<std::byte*>(y.data())};
  const auto done = call->call(3, {}, outputs);
  REQUIRE_MESSAGE(done, why(done));
  CHECK(y == std::vector<float>(3, 0.0f));
}

TEST_CASE("a model whose rows depend on each other is computed with just the rows of the call") {
  const one_model one{[](graph&, symbol x) {
    return std::map<std::string, symbol>{{"centred", sub(x, reduce_mean(x, {{0}}))}};
  }};
  auto call = one.written().caller();
  REQUIRE_MESSAGE(call, why(call));
  CHECK_FALSE(call->rows_are_apart());
  // There are more different numbers of rows than the caller keeps programs.
  for (int64_t rows = 1; rows <= 12; ++rows) {
    std::vector<float> x(static_cast<size_t>(rows) * 4);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i);
    const auto y = call->call({{"x", tensor::of<float>({rows, 4}, x)}});
    REQUIRE_MESSAGE(y, why(y));
    for (int64_t r = 0; r < rows; ++r)
      CHECK(y->at("centred").as<float>()[static_cast<size_t>(r * 4)]
            == doctest::Approx(4.0 * static_cast<double>(r) - 2.0 * static_cast<double>(rows - 1)));
  }
}

TEST_CASE("an output without a row for each example is refused to a caller, and predicted by a job") {
  const one_model one{[](graph&, symbol x) { return std::map<std::string, symbol>{{"all", reduce_sum(x)}}; }};
  const auto m = one.written();
  const auto call = m.caller();
  REQUIRE_FALSE(call);
  CHECK(call.error().category == errc::invalid_argument);
  CHECK(call.error().message.starts_with("'all' is float32 [] and has no row for each example"));
  auto stream = predict({m.as_model(), {}}, {.input = one_model::data().batch(2), .single_examples = false});
  REQUIRE(stream);
  const auto batch = stream->next();
  REQUIRE_MESSAGE(batch, why(batch));
  CHECK((*batch)->values.at("all") == tensor::scalar(36.0f));
}

TEST_CASE("inputs that do not fit are refused by name, and so are indices out of range, with their row") {
  exported_case c;
  auto call = opened(c.written()).caller();
  const auto refused = [&](const std::map<std::string, tensor>& inputs, const std::string& message) {
    const auto y = call->call(inputs);
    REQUIRE_FALSE(y);
    CHECK(y.error().category == errc::invalid_argument);
    CHECK(y.error().message == message);
  };
  refused({}, "the input 'x' is missing: there is none");
  refused({{"z", small_rows(1)}}, "the input 'x' is missing: there is 'z'");
  refused({{"x", small_rows(1)}, {"z", small_rows(1)}}, "the model takes no input 'z', but 'x'");
  refused({{"x", tensor::zeros(dtype::float32, {2, 9})}},
          "the input 'x' is float32[2, 9], and the model takes float32 [rows, 8]");
  refused({{"x", tensor::zeros(dtype::float64, {2, 8})}},
          "the input 'x' is float64[2, 8], and the model takes float32 [rows, 8]");
  refused({{"x", tensor::scalar(1.0f)}}, "the input 'x' is float32[], and the model takes float32 [rows, 8]");
  CHECK(call->call({{"x", small_rows(2)}}));

  const one_model table{[](graph& g, symbol x) {
    const symbol t = g.variable({.name = "table", .dims = {5, 2}, .initial = init::ones(), .trainable = false});
    return std::map<std::string, symbol>{{"rows", gather(t, cast(reduce_sum(x, {{1}}), dtype::int32))}};
  }};
  auto look = table.written().caller({.rows = {1, 2}});
  REQUIRE_MESSAGE(look, why(look));
  const auto beyond = look->call({{"x", tensor::of<float>({3, 4}, {1, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0})}});
  REQUIRE_FALSE(beyond);
  CHECK(beyond.error().category == errc::invalid_argument);
  CHECK_MESSAGE(beyond.error().message.starts_with("index 7 at position 0 is outside [0, 5): "),
                beyond.error().message);
  CHECK_MESSAGE(beyond.error().message.ends_with(", counted from row 2"), beyond.error().message);
}

TEST_CASE("the rows of a caller must ascend from 1") {
  exported_case c;
  const auto m = opened(c.written());
  for (const auto& rows : std::vector<std::vector<int64_t>>{{0}, {-1, 3}, {8, 8}, {8, 1}}) {
    const auto call = m.caller({.rows = rows});
    REQUIRE_FALSE(call);
    CHECK(call.error().message.starts_with("the rows of a caller must ascend from 1, not {"));
  }
  CHECK(m.caller({.signature = "none"})
            .error()
            .message.ends_with(" has no signature 'none', but 'classification', 'predict', 'serving_default'"));
}

TEST_CASE("a call into given places allocates nothing, and a call for tensors nothing but these") {
  exported_case c;
  auto call = *opened(c.written()).caller();
  const tensor x = small_rows(20);
  std::vector<std::vector<std::byte>> room;
  std::vector<std::byte*> into;
  for (const auto& o : call.outputs())
    into.push_back(room.emplace_back(static_cast<size_t>(20 * o.row_bytes())).data());
  const std::byte* from[] = {x.data()};
  for (const int64_t rows : {20, 1, 8, 13}) {
    REQUIRE(call.call(rows, from, into));
    const int64_t before = allocations();
    for (int i = 0; i < 100; ++i)
      (void)call.call(rows, from, into);
    CHECK(allocations() == before);
  }
  const tensor inputs[] = {x};
  const int64_t before = allocations();
  const auto y = call.call(inputs);
  const int64_t during = allocations() - before;
  REQUIRE(y);
  // One allocation is the list; each tensor may need one for its buffer's owner and one for the buffer.
  CHECK(during <= 1 + 2 * std::ssize(*y));
  for (size_t o = 0; o < y->size(); ++o)
    REQUIRE(call.call(20, from, into));
  for (size_t o = 0; o < y->size(); ++o)
    CHECK(std::equal((*y)[o].bytes().begin(), (*y)[o].bytes().end(), room[o].begin(), room[o].end()));
}

TEST_CASE("copies of a caller run at once on threads of their own, and outlive the model and the first caller") {
  std::vector<model_caller> callers;
  std::vector<tensor> want;
  {
    exported_case c;
    const auto m = opened(c.written());
    callers.push_back(*m.caller());
    const tensor inputs[] = {small_rows(48)};
    want = *callers[0].call(inputs);
    for (int i = 0; i < 3; ++i)
      callers.push_back(callers[0]);
    callers.erase(callers.begin());
  }
  const tensor inputs[] = {small_rows(48)};
  std::vector<int> right(callers.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < callers.size(); ++i)
    threads.emplace_back([&, i] {
      for (int n = 0; n < 50; ++n)
        right[i] += *callers[i].call(inputs) == want ? 1 : 0;
    });
  for (auto& t : threads)
    t.join();
  CHECK(right == std::vector<int>(3, 50));
}

TEST_CASE("a caller that was moved from and its copies say so, and a model that was moved from is still the model") {
  const one_model c{[](graph&, symbol x) { return std::map<std::string, symbol>{{"y", x}}; }};
  auto m = c.written();
  const auto other = std::move(m);
  CHECK(m.name() == other.name());
  auto call = *m.caller();
  auto second = std::move(call);
  auto copy = call;
  const tensor rows[] = {tensor::zeros(dtype::float32, {2, 4})};
  const std::byte* in[] = {rows[0].data()};
  for (auto* gone : {&call, &copy}) {
    const error wanted{errc::state, "the handle holds no model: it was moved from"};
    CHECK(gone->call(rows).error() == wanted);
    CHECK(gone->call({{"x", rows[0]}}).error() == wanted);
    CHECK(gone->call(2, in, {}).error() == wanted);
    CHECK(gone->inputs().empty());
    CHECK(gone->outputs().empty());
    CHECK_FALSE(gone->rows_are_apart());
  }
  CHECK(second.call(rows));
  copy = second;
  CHECK(copy.call(rows));
}

}  // namespace troupe
