#include "compute/engine/row_cache.hpp"

#include <troupe/heads.hpp>
#include <troupe/nn.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

constexpr int64_t rows = 8, width = 6, classes = 3, source_rows = 40;

head classes_head() { return multi_class_head{.classes = classes}; }

/// All variables keep their values, and the outputs of a row depend on that row alone.
model frozen_model() {
  return {"frozen", [](graph& g, const features& x, const labels& y, mode m) {
            const auto w = g.variable(
                {.name = "w", .dims = {width, 16}, .initial = init::glorot_uniform(), .trainable = false});
            const auto h = relu(matmul(x["x"], w));
            const auto top = g.variable(
                {.name = "top", .dims = {16, classes}, .initial = init::glorot_uniform(), .trainable = false});
            const auto logits = matmul(h, top);
            auto spec = classes_head().spec(
                g, {.mode = m, .logits = logits, .labels = y.only(), .optimizer = gradient_descent{}});
            spec.predictions = {{"hidden", h}, {"logits", logits}};
            return spec;
          }};
}
model loss_model() {
  return {"loss", [](graph& g, const features& x, const labels& y, mode m) {
            return classes_head().spec(
                g, {.mode = m, .logits = x["logits"], .labels = y.only(), .optimizer = gradient_descent{}});
          }};
}

std::unique_ptr<step_engine> engine_of(const model& source, const element_spec& element,
                                       std::shared_ptr<parameter_store>& store, int32_t shards,
                                       std::vector<std::string> expose) {
  const std::shared_ptr<const model_graph> built = *build_graph(source, element, mode::train);
  store = *parameter_store::create(*layout_of(*built), 1);
  store->initialise(3);
  auto delivered = element.components();
  auto made = make_program_engine({.graph = built,
                                   .delivered = delivered,
                                   .store = store,
                                   .shards = shards,
                                   .batch_rows = rows,
                                   .expose = std::move(expose)});
  REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
  return std::move(*made);
}

/// Engines of a group whose readers want "hidden", with and without the cache.
struct engines {
  std::shared_ptr<parameter_store> store, plain_store, none;
  std::unique_ptr<step_engine> cached, plain;

  explicit engines(int32_t shards = 1) {
    const element_spec element{{{"row", dtype::int64, {}}, {"x", dtype::float32, {width}}}, {{"y", dtype::int32, {}}}};
    const element_spec of_loss{
        {{"row", dtype::int64, {}}, {"x", dtype::float32, {width}}, {"logits", dtype::float32, {classes}}},
        {{"y", dtype::int32, {}}}};
    plain = engine_of(frozen_model(), element, plain_store, shards, {"hidden"});
    // What is delivered comes in the order of the batch, and the logits last.
    const std::shared_ptr<const model_graph> built = *build_graph(loss_model(), of_loss, mode::train);
    none = *parameter_store::create(*layout_of(*built), 1);
    auto loss = make_program_engine({.graph = built,
                                     .delivered = {{"row", dtype::int64, {}},
                                                   {"x", dtype::float32, {width}},
                                                   {"y", dtype::int32, {}},
                                                   {"logits", dtype::float32, {classes}}},
                                     .store = none,
                                     .shards = shards,
                                     .batch_rows = rows});
    REQUIRE_MESSAGE(loss, (loss ? "" : to_text(loss.error())));
    auto made = make_cached_engine({.computed = engine_of(frozen_model(), element, store, shards, {"hidden", "logits"}),
                                    .extra = 1,
                                    .loss = std::move(*loss),
                                    .loss_reads = 1,
                                    .rows_component = 0,
                                    .source_rows = source_rows});
    REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
    cached = std::move(*made);
  }
};

struct seen {
  std::vector<float> hidden;
  double loss = 0;
  friend bool operator==(const seen&, const seen&) = default;
};

/// What an engine makes of these rows of a source.
seen expose(step_engine& engine, const std::vector<int64_t>& from) {
  std::vector<float> x;
  std::vector<int32_t> y;
  for (const int64_t row : from) {
    for (int64_t i = 0; i < width; ++i)
      x.push_back(static_cast<float>((row * 7 + i * 5) % 23) / 11 - 1);
    y.push_back(static_cast<int32_t>(row % classes));
  }
  seen made{std::vector<float>(from.size() * 16)};
  const std::byte* const feeds[] = {reinterpret_cast<const std::byte*>(from.data()),
                                    reinterpret_cast<const std::byte*>(x.data()),
                                    reinterpret_cast<const std::byte*>(y.data())};
  std::byte* const into[] = {reinterpret_cast<std::byte*>(made.hidden.data())};
  REQUIRE(engine.expose(0, {.components = feeds, .rows = std::ssize(from), .exposed = into}, 0) == step_status::ok);
  made.loss = engine.loss();
  return made;
}

std::vector<int64_t> batch_from(int64_t first, int64_t stride = 1) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < rows; ++i)
    all.push_back((first + i * stride) % source_rows);
  return all;
}

}  // namespace

TEST_CASE("an engine with a cache has the bits of one without, in the first epoch and in later ones") {
  for (const int32_t shards : {1, 4}) {
    engines e{shards};
    CHECK(e.cached->exposed().size() == 1);
    for (const int64_t stride : {1, 3, 7})
      for (int64_t first = 0; first < source_rows; first += rows)
        CHECK(expose(*e.cached, batch_from(first, stride)) == expose(*e.plain, batch_from(first, stride)));
    CHECK_MESSAGE(expose(*e.cached, {3, 9, 3, 30}) == expose(*e.plain, {3, 9, 3, 30}), "a smaller batch");
  }
}

TEST_CASE("rows that are kept are not computed again, and a batch with a missing row is computed whole") {
  engines e;
  const auto before = expose(*e.cached, batch_from(0));
  e.store->initialise(4);  // Behind the engine's back.
  CHECK(expose(*e.cached, batch_from(0)) == before);
  CHECK_FALSE(expose(*e.cached, batch_from(1)) == expose(*e.plain, batch_from(1)));
  e.plain_store->initialise(4);
  CHECK(expose(*e.cached, batch_from(1)) == expose(*e.plain, batch_from(1)));
}

TEST_CASE("loading values empties the cache") {
  engines e;
  const auto before = expose(*e.cached, batch_from(0));
  e.cached->initialise(4);
  e.plain->initialise(4);
  CHECK_FALSE(expose(*e.cached, batch_from(0)) == before);
  CHECK(expose(*e.cached, batch_from(0)) == expose(*e.plain, batch_from(0)));
  const auto ones = tensor::of<float>({width * 16}, std::vector<float>(width * 16, 1.f));
  REQUIRE(e.cached->assign("w", 0, ones));
  REQUIRE(e.plain->assign("w", 0, ones));
  CHECK(expose(*e.cached, batch_from(0)) == expose(*e.plain, batch_from(0)));
}

TEST_CASE("an example with a row that the source does not have is bad input, and the next batch is computed") {
  engines e;
  for (const int64_t row : {source_rows, int64_t{-1}, INT64_MAX}) {
    const std::vector<int64_t> from{0, row};
    const std::vector<float> x(2 * width);
    const std::vector<int32_t> y(2);
    std::vector<float> hidden(2 * 16);
    const std::byte* const feeds[] = {reinterpret_cast<const std::byte*>(from.data()),
                                      reinterpret_cast<const std::byte*>(x.data()),
                                      reinterpret_cast<const std::byte*>(y.data())};
    std::byte* const into[] = {reinterpret_cast<std::byte*>(hidden.data())};
    CHECK(e.cached->expose(0, {.components = feeds, .rows = 2, .exposed = into}, 0) == step_status::bad_input);
    CHECK(e.cached->last_error().category == errc::invalid_argument);
    CHECK(e.cached->last_error().message.find("row " + std::to_string(row) + " of its source") != std::string::npos);
  }
  CHECK(expose(*e.cached, batch_from(0)) == expose(*e.plain, batch_from(0)));
}

TEST_CASE("the memory of a cache is that of all rows, and does not overflow") {
  const std::vector<component> two{{"a", dtype::float32, {10}}, {"b", dtype::int64, {}}};
  CHECK(row_cache_bytes(two, 1000) == 48'000);
  CHECK(row_cache_bytes(two, INT64_MAX) == INT64_MAX);
  CHECK(row_cache_bytes({}, INT64_MAX) == 0);
}

}  // namespace troupe::test
