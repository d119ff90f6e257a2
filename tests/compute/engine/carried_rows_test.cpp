// Carried states: what a step reads, when what it computed is written, and whose rows they are.
#include "compute/engine/step_engine.hpp"
#include "tests/support/has.hpp"

#include <troupe/nn.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace troupe::test {

namespace {

constexpr int64_t rows = 8;

/// Each row has two sums of its inputs: `run`, over the whole run, and `loop`, over a loop, which begins at 100. Both
/// are exposed, or are the metrics of an evaluation. The loss is their mean, times a variable that begins at 1.
model summing_model() {
  return {"summing", [](graph& g, const features& x, const labels&, mode m) {
            const auto batch = g.unknown("batch");
            const auto run = g.state({.name = "run", .dims = {batch}});
            const auto loop = g.state(
                {.name = "loop", .dims = {batch}, .initial = init::constant(100), .lasts = lifetime::loop});
            const auto w = g.variable({.name = "w", .dims = {1}, .initial = init::ones()});
            const auto scaled = x["x"] * w;
            g.carry(run, run + scaled);
            g.carry(loop, loop + x["x"]);
            model_spec spec;
            spec.mode = m;
            spec.loss = reduce_mean(run * w);
            spec.predictions = {{"loop", loop}, {"run", run}};
            spec.optimizer = gradient_descent{.rate = 0.5f};
            return spec;
          }};
}

const element_spec element{{{"x", dtype::float32, {}}}, {}};

struct summing {
  std::shared_ptr<const model_graph> built;
  std::shared_ptr<parameter_store> store;
  std::vector<std::unique_ptr<step_engine>> engines;
  int32_t replicas, shards;
  std::vector<float> seen_run = std::vector<float>(rows), seen_loop = std::vector<float>(rows);

  explicit summing(int32_t replicas_ = 1, int32_t shards_ = 1, mode m = mode::train, int arenas = 1)
    : built(*build_graph(summing_model(), element, m)), replicas(replicas_), shards(shards_) {
    store = *parameter_store::create(*layout_of(*built, rows), arenas);
    store->initialise(3);
    for (int32_t r = 0; r < replicas; ++r) {
      auto made = make_program_engine(
          {.graph = built,
           .delivered = element.components(),
           .store = store,
           .replica = r,
           .replicas = replicas,
           .shards = shards,
           .batch_rows = rows / replicas,
           .expose = m == mode::train ? std::vector<std::string>{"run", "loop"} : std::vector<std::string>{}});
      REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
      engines.push_back(std::move(*made));
    }
  }

  enum class how : uint8_t { trains, exposes, evaluates };
  /// One step of all replicas with x = 1, 2, ..., 8 in the rows; it is not carried.
  step_status step(int64_t s, bool begins_loop = false, how what = how::trains, int arena = 0) {
    std::vector<float> x(rows);
    for (int64_t i = 0; i < rows; ++i)
      x[static_cast<size_t>(i)] = static_cast<float>(i + 1);
    const int64_t own = rows / replicas;
    for (int32_t r = 0; r < replicas; ++r) {
      const std::byte* const feeds[] = {reinterpret_cast<const std::byte*>(x.data() + r * own)};
      std::byte* const into[] = {reinterpret_cast<std::byte*>(seen_run.data() + r * own),
                                 reinterpret_cast<std::byte*>(seen_loop.data() + r * own)};
      batch_feeds in{.components = feeds, .rows = own, .begins_loop = begins_loop};
      if (what != how::evaluates)
        in.exposed = into;
      auto& engine = *engines[static_cast<size_t>(r)];
      const auto status = what == how::trains    ? engine.gradients(s, in, arena)
                          : what == how::exposes ? engine.expose(s, in, arena)
                                                 : engine.evaluate(s, in, arena);
      if (status != step_status::ok)
        return status;
    }
    return step_status::ok;
  }
  void carry(int arena = 0) {
    for (auto& e : engines)
      e->carry(arena);
  }
};

std::vector<float> times(float steps, float begins = 0) {
  std::vector<float> x(rows);
  for (int64_t i = 0; i < rows; ++i)
    x[static_cast<size_t>(i)] = begins + steps * static_cast<float>(i + 1);
  return x;
}

using how = summing::how;

}  // namespace

TEST_CASE(
    "[DF-38] a step reads what the last step that counted carried, row by row, whatever replicas and shards "
    "there are") {
  for (const auto& [replicas, shards] : {std::pair{1, 1}, {1, 4}, {2, 2}, {2, 4}, {4, 4}, {1, 8}}) {
    CAPTURE(replicas);
    CAPTURE(shards);
    summing s{replicas, shards};
    REQUIRE(s.step(0) == step_status::ok);
    CHECK(s.seen_run == times(0));
    CHECK(s.seen_loop == times(0, 100));
    REQUIRE(s.step(0) == step_status::ok);  // The first time does not count: nothing was carried.
    CHECK(s.seen_run == times(0));
    s.carry();
    REQUIRE(s.step(1) == step_status::ok);
    CHECK(s.seen_run == times(1));
    CHECK(s.seen_loop == times(1, 100));
    s.carry();
    REQUIRE(s.step(2, true) == step_status::ok);  // A loop begins.
    CHECK(s.seen_run == times(2));
    CHECK(s.seen_loop == times(0, 100));
    s.carry();
    REQUIRE(s.step(3) == step_status::ok);
    CHECK(s.seen_run == times(3));
    CHECK(s.seen_loop == times(1, 100));
  }
}

TEST_CASE("[DF-37] of 64 rows each of 16 replicas carries 4, and a model without states carries nothing") {
  const std::shared_ptr<const model_graph> built = *build_graph(summing_model(), element, mode::train);
  const auto store = *parameter_store::create(*layout_of(*built, 64), 1);
  for (int32_t r = 0; r < 16; ++r) {
    const auto engine = *make_program_engine({.graph = built,
                                              .delivered = element.components(),
                                              .store = store,
                                              .replica = r,
                                              .replicas = 16,
                                              .shards = 16,
                                              .batch_rows = 4});
    int carried = 0;  // One state lasts for the run, one for a loop.
    for (const auto& piece : engine->pieces(0))
      if (piece.carried) {
        CHECK(piece.first == 4 * r);
        CHECK(piece.elements.dims() == shape{4});
        ++carried;
      }
    CHECK(carried == 2);
  }
  const model plain{"plain", [](graph& g, const features& x, const labels&, mode m) {
                      const auto w = g.variable({.name = "w", .dims = {1}, .initial = init::ones()});
                      return model_spec{.mode = m, .loss = reduce_mean(x["x"] * w), .optimizer = gradient_descent{}};
                    }};
  const auto without = *build_graph(plain, element, mode::train);
  CHECK(layout_of(*without, 64)->entries().size() == 1);
}

TEST_CASE("a retired group carries, too") {
  summing s{1, 4};
  for (int64_t step = 0; step < 3; ++step) {
    REQUIRE(s.step(step, false, how::exposes) == step_status::ok);
    CHECK(s.seen_run == times(static_cast<float>(step)));
    s.carry();
  }
  REQUIRE(s.step(3) == step_status::ok);
  CHECK(s.seen_run == times(3));
}

TEST_CASE("what is carried into one arena leaves the other as a snapshot holds it") {
  summing s{2, 4, mode::train, 2};
  REQUIRE(s.step(0) == step_status::ok);
  s.carry(0);
  const auto held = s.store->view(0, s.store->layout().find("run"));
  REQUIRE(s.step(1) == step_status::ok);
  s.carry(1);
  CHECK(held == tensor::of<float>({rows}, std::span<const float>{times(1)}));
  CHECK(s.store->view(1, s.store->layout().find("run")) == tensor::of<float>({rows}, std::span<const float>{times(2)}));
}

TEST_CASE("no gradient flows from a step to an earlier one") {
  summing s;
  for (int64_t step = 0; step < 2; ++step) {
    REQUIRE(s.step(step) == step_status::ok);
    s.carry();
  }
  // The loss is mean(run) · w, where run is a sum of x · w at earlier steps: its derivative is mean(run) alone.
  const auto& e = s.store->layout().entries()[static_cast<size_t>(s.store->layout().find("w"))];
  const auto gradient = s.engines.front()->gradient();
  CHECK(*reinterpret_cast<const float*>(gradient.data() + e.gradient_offset) == doctest::Approx(4.5));
}

TEST_CASE("the states are the replica's rows of a snapshot, and the update leaves them alone") {
  summing s{2, 2};
  REQUIRE(s.step(0) == step_status::ok);
  s.carry();
  for (int32_t r = 0; r < 2; ++r) {
    auto& engine = *s.engines[static_cast<size_t>(r)];
    engine.apply(0, engine.gradient(), 0, 0);
    int found = 0;
    for (const auto& piece : engine.pieces(0)) {
      CHECK(piece.carried == (piece.name == "run" || piece.name == "loop"));
      if (piece.name != "run")
        continue;
      ++found;
      CHECK(piece.dims == shape{rows});
      CHECK(piece.first == r * 4);
      CHECK_FALSE(piece.trainable);
      const auto all = times(1);
      CHECK(piece.elements == tensor::of<float>({4}, std::span{all}.subspan(static_cast<size_t>(r) * 4, 4)));
    }
    CHECK(found == 1);
  }
  REQUIRE(s.engines[0]->assign("run", 2, tensor::of<float>({3}, {7, 8, 9})));
  REQUIRE(s.step(1) == step_status::ok);
  CHECK(s.seen_run == std::vector<float>{1, 2, 7, 8, 9, 6, 7, 8});
}

TEST_CASE("an evaluation has rows of its own, from the initial value on, which no checkpoint holds") {
  summing s{1, 1, mode::evaluate};
  CHECK(s.store->layout().find("run") < 0);
  auto& engine = *s.engines.front();
  const auto loss_of = [&](int64_t step, int64_t count, bool begins) {
    const auto x = times(1);
    const std::byte* const feeds[] = {reinterpret_cast<const std::byte*>(x.data())};
    REQUIRE(engine.evaluate(step, {.components = feeds, .rows = count, .begins_run = begins}, 0) == step_status::ok);
    const double loss = engine.loss();
    engine.carry(0);
    return loss;
  };
  CHECK(loss_of(0, rows, true) == 0);
  CHECK(loss_of(1, rows, false) == doctest::Approx(4.5));
  CHECK(loss_of(2, 2, false) == doctest::Approx(3));  // A partial batch at the end: its rows are the first ones.
  CHECK(loss_of(0, rows, true) == 0);
  CHECK(loss_of(1, rows, false) == doctest::Approx(4.5));
}

TEST_CASE("a batch that has no rows for the states is refused") {
  summing s;
  const std::vector<float> x(2 * rows);
  const std::byte* const feeds[] = {reinterpret_cast<const std::byte*>(x.data())};
  std::byte* const into[] = {reinterpret_cast<std::byte*>(s.seen_run.data()),
                             reinterpret_cast<std::byte*>(s.seen_loop.data())};
  auto& trains = *s.engines.front();
  CHECK(trains.gradients(0, {.components = feeds, .rows = 6, .exposed = into}, 0) == step_status::bad_input);
  CHECK(
      trains.last_error()
      == error{errc::invalid_argument,
               "a batch has 6 rows for this replica, and the model carries 'run' for 8: training with a carried state "
               "takes whole batches only (drop_remainder)"});
  CHECK(s.step(0) == step_status::ok);
  summing evaluation{1, 1, mode::evaluate};
  CHECK(evaluation.engines.front()->evaluate(0, {.components = feeds, .rows = 9}, 0) == step_status::bad_input);
  CHECK(has(evaluation.engines.front()->last_error().message, "a batch has 9 rows for this replica"));
}

TEST_CASE("a store without the rows of the whole batch is refused") {
  const std::shared_ptr<const model_graph> built = *build_graph(summing_model(), element, mode::train);
  for (const int64_t there : {int64_t{0}, rows / 2}) {
    const auto made = make_program_engine({.graph = built,
                                           .delivered = element.components(),
                                           .store = *parameter_store::create(*layout_of(*built, there), 1),
                                           .batch_rows = rows});
    REQUIRE_FALSE(made);
    CHECK(made.error().message == "the store has not the 8 rows of the state 'run'");
  }
}

TEST_CASE("a state of more elements than any machine holds is refused, naming it") {
  const model huge{"huge", [](graph& g, const features& x, const labels&, mode m) {
                     const auto memory = g.state({.name = "memory", .dims = {g.unknown("batch"), int64_t{1} << 47}});
                     g.carry(memory, memory);
                     const auto w = g.variable({.name = "w", .dims = {1}});
                     return model_spec{.mode = m, .loss = reduce_mean(x["x"] * w), .optimizer = gradient_descent{}};
                   }};
  const auto built = *build_graph(huge, element, mode::train);
  const auto layout = layout_of(*built, int64_t{1} << 20);
  REQUIRE_FALSE(layout);
  CHECK(layout.error().message == "the state 'memory' would have more than 2^48 elements: [1048576, 140737488355328]");
}

TEST_CASE("[DF-37] a prediction sees the initial value of every state") {
  const std::shared_ptr<const model_graph> built = *build_graph(summing_model(), element, mode::predict);
  const auto engine = *make_program_engine({.graph = built,
                                            .delivered = element.components(),
                                            .store = *parameter_store::create(*layout_of(*built, rows), 1),
                                            .batch_rows = rows});
  const auto x = times(1);
  const std::byte* const feeds[] = {reinterpret_cast<const std::byte*>(x.data())};
  for (int64_t step = 0; step < 2; ++step) {
    REQUIRE(engine->evaluate(step, {.components = feeds, .rows = rows}, 0) == step_status::ok);
    engine->carry(0);
    REQUIRE(engine->outputs().size() == 2);
    CHECK(engine->values()[0] == tensor::of<float>({rows}, std::span<const float>{times(0, 100)}));
    CHECK(engine->values()[1] == tensor::of<float>({rows}, std::span<const float>{times(0)}));
  }
}

TEST_CASE("a state that is not finite is the fault, with its row") {
  summing s{1, 2};
  REQUIRE(s.engines[0]->assign("run", 5, tensor::of<float>({1}, {std::numeric_limits<float>::quiet_NaN()})));
  CHECK(s.step(0) == step_status::not_finite);
  const auto x = times(1);
  const std::byte* const feeds[] = {reinterpret_cast<const std::byte*>(x.data())};
  const auto fault = s.engines[0]->find_fault(0, {.components = feeds, .rows = rows}, 0);
  REQUIRE(fault);
  CHECK(fault->what == numeric_fault::kind::state);
  CHECK(to_string(*fault) == "row 5 of the batch has nan in the carried state run");
}

TEST_CASE("a variable is copied whole by any replica, and a carried state, whose rows others write, is not") {
  summing two{2, 2};
  CHECK(two.step(0) == step_status::ok);
  for (const auto& engine : two.engines) {
    const auto w = engine->variable("w", 0);
    REQUIRE(w);
    CHECK(*w == tensor::of<float>({1}, {1}));
    CHECK(engine->variable("v", 0).error().category == errc::not_found);
    const auto run = engine->variable("run", 0);
    REQUIRE_FALSE(run);
    CHECK(run.error().category == errc::invalid_argument);
    CHECK(has(run.error().message, "'run' is a carried state"));
  }
}

}  // namespace troupe::test
