// Layers with an optimizer: they learn, and replicas agree.
#include "compute/engine/gradient_reduction.hpp"
#include "compute/engine/step_engine.hpp"
#include "tests/compute/nn/run_layer.hpp"

#include <troupe/nn.hpp>

namespace troupe {

using namespace test;

namespace {

constexpr int64_t time = 6, words = 8;

/// A model that uses every layer once.
symbol network(symbol ids, bool training) {
  graph& g = *ids.owner();
  symbol h = nn::embedding(ids, {.entries = words, .units = 16});
  h = add(h, nn::sinusoids(g, time, 16));
  h = nn::residual(h, nn::multi_head_attention(nn::layer_norm(h), {.heads = 2, .causal = true, .relative = true}));
  h = nn::residual(h, nn::feed_forward(nn::rms_norm(h), {.hidden = 32, .activation = gelu}));
  h = nn::batch_norm(h, training, {.momentum = 0.9});
  h = nn::gru(nn::lstm(h, {.units = 16}).outputs, {.units = 16}).last;
  return nn::dense(h, {.units = words});
}

/// Rows of words. The label of a row is the word at the position that its last word gives.
std::pair<tensor, tensor> sentences(int64_t rows) {
  std::vector<int32_t> x, y;
  uint64_t state = 1;
  for (int64_t row = 0; row < rows; ++row) {
    const size_t first = x.size();
    for (int64_t t = 0; t < time; ++t) {
      state = state * 6364136223846793005 + 1442695040888963407;
      x.push_back(static_cast<int32_t>((state >> 40) % words));
    }
    y.push_back(x[first + static_cast<size_t>(x.back()) % 3]);
  }
  return {tensor::of<int32_t>({rows, time}, std::span<const int32_t>{x}),
          tensor::of<int32_t>({rows}, std::span<const int32_t>{y})};
}

model_spec trained(symbol ids, symbol y, mode m) {
  model_spec spec;
  spec.mode = m;
  spec.loss = reduce_mean(sparse_softmax_cross_entropy(y, network(ids, m == mode::train)));
  spec.optimizer = adam{.rate = 0.01f};
  return spec;
}

/// Engines of several replicas that share one store.
struct crew {
  std::shared_ptr<parameter_store> store;
  std::vector<std::unique_ptr<step_engine>> engines;
  std::optional<gradient_reduction> sums;
  int64_t rows = 0;

  crew(int32_t replicas, int64_t batch) : rows(batch / replicas) {
    const auto source = std::make_shared<const model>(
        model{"layers", [](graph&, const features& f, const labels& l, mode m) {
                return trained(f.all().at("x"), l.all().at("y"), m);
              }});
    const element_spec element{{{"x", dtype::int32, {time}}}, {{"y", dtype::int32, {}}}};
    const std::shared_ptr<const model_graph> built = *build_graph(*source, element, mode::train);
    store = *parameter_store::create(*layout_of(*built), 1);
    store->initialise(1);
    sums.emplace(*gradient_reduction::plan({store, &store->layout()}, replicas));
    for (int32_t r = 0; r < replicas; ++r) {
      auto made = make_program_engine({.graph = built,
                                       .delivered = element.components(),
                                       .store = store,
                                       .replica = r,
                                       .replicas = replicas,
                                       .shards = 2,
                                       .batch_rows = rows});
      REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
      engines.push_back(std::move(*made));
    }
  }

  void step(int64_t at, const tensor& x, const tensor& y) {
    std::vector<tensor> parts;
    for (size_t r = 0; r < engines.size(); ++r) {
      const auto first = static_cast<int64_t>(r) * rows;
      const std::byte* feeds[] = {x.data() + first * time * 4, y.data() + first * 4};
      REQUIRE(engines[r]->gradients(at, {feeds, rows}, 0) == step_status::ok);
      parts.push_back(engines[r]->gradient());
    }
    const tensor sum = sums->sum(parts);
    REQUIRE(engines[0]->finite(sum));
    for (auto& e : engines)
      e->apply(at, sum, 0, 0);
  }
};

}  // namespace

TEST_CASE("a network of all layers learns which word the last one points to") {
  const auto [x, y] = sentences(64);
  trainer t{[](graph& g) {
              const symbol ids = g.placeholder("x", dtype::int32, {g.unknown("batch"), time});
              return trained(ids, g.placeholder("y", dtype::int32, {g.unknown("batch")}), mode::train);
            },
            {.batch = 64, .seed = 3}};
  REQUIRE(t.step({x.data(), y.data()}, 0) == step_status::ok);
  const double before = t.run->loss();
  for (int64_t step = 1; step < 200; ++step)
    REQUIRE(t.step({x.data(), y.data()}, step) == step_status::ok);
  CHECK(before > 1.5);
  CHECK(t.run->loss() < 0.1);
}

TEST_CASE("two replicas of one shard each hold the bits of one replica of two, moving statistics included") {
  const auto [x, y] = sentences(16);
  crew one{1, 16}, two{2, 16};
  for (int64_t step = 0; step < 5; ++step) {
    one.step(step, x, y);
    two.step(step, x, y);
  }
  const auto bytes = static_cast<size_t>(one.store->layout().arena_bytes());
  CHECK(std::memcmp(one.store->arena(0), two.store->arena(0), bytes) == 0);
  const tensor mean = one.store->view(0, one.store->layout().find("batch_norm/moving_mean"));
  const auto m = numbers(mean);
  CHECK(std::any_of(m.begin(), m.end(), [](double v) { return v != 0; }));
}

}  // namespace troupe
