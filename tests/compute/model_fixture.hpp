// A small model with its store and its program, for tests that run steps.
#pragma once

#include "compute/program/program.hpp"

#include <troupe/nn.hpp>

#include <doctest/doctest.h>

#include <cstring>

namespace troupe::test {

/// Dense layers of `widths` with relu between them; the loss is the mean cross-entropy over the batch.
inline model_spec classifier(graph& g, const std::vector<int64_t>& widths, dtype type, const optimizer& o,
                             double dropout_rate = 0, mode m = mode::train) {
  const symbol x = g.placeholder("x", type, {g.unknown("batch"), widths[0]});
  const symbol y = g.placeholder("y", dtype::int32, {g.unknown("batch")});
  symbol h = x;
  for (size_t i = 1; i < widths.size(); ++i) {
    const bool last = i + 1 == widths.size();
    h = nn::dense(h, {.units = widths[i], .activation = last ? nullptr : activation{relu}});
    if (!last)
      h = dropout(h, dropout_rate, m == mode::train);
  }
  model_spec spec;
  spec.mode = m;
  spec.loss = reduce_mean(sparse_softmax_cross_entropy(y, h));
  spec.optimizer = o;
  return spec;
}

struct trainer {
  graph g;
  parameter_layout layout;
  std::shared_ptr<parameter_store> store;
  std::unique_ptr<program> run;
  std::shared_ptr<std::byte> gradient;

  trainer(const std::function<model_spec(graph&)>& build, const program_options& options, int arenas = 1,
          uint64_t seed = 7) {
    const model_spec spec = build(g);
    auto made = parameter_layout::of(g, spec.mode.value_or(mode::train) == mode::train ? spec.optimizer : std::nullopt);
    REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
    layout = *made;
    store = *parameter_store::create(layout, arenas);
    store->initialise(seed);
    auto planned = program::make(g, spec, layout, options);
    REQUIRE_MESSAGE(planned, (planned ? "" : to_text(planned.error())));
    run = std::move(*planned);
    gradient = allocate_buffer(layout.gradient_bytes());
    std::memset(gradient.get(), 0xff, static_cast<size_t>(layout.gradient_bytes()));
  }

  step_input input(const std::vector<const std::byte*>& feeds, int64_t step = 0, int32_t shard = 0) const {
    return {.step = step, .shard = shard, .parameters = store->arena(0), .shared = store->shared(), .feeds = feeds};
  }
  std::pair<int64_t, int64_t> whole() const { return {0, layout.gradient_bytes()}; }
  /// Makes one step in place.
  step_status step(const std::vector<const std::byte*>& feeds, int64_t step) {
    const auto status = run->gradients(input(feeds, step), gradient.get());
    run->apply(step, whole(), gradient.get(), store->arena(0), store->arena(0));
    return status;
  }
  template <class T>
  std::span<const T> gradient_of(std::string_view name) const {
    const auto& e = layout.entries()[static_cast<size_t>(layout.find(name))];
    return {reinterpret_cast<const T*>(gradient.get() + e.gradient_offset), static_cast<size_t>(e.dims.elements())};
  }
  tensor value(std::string_view name, int arena = 0) const { return store->view(arena, layout.find(name)); }
};

/// Numbers in [-1, 1) that depend only on (seed, index).
template <class T>
tensor noise(const shape& dims, uint64_t seed) {
  std::vector<T> x(static_cast<size_t>(dims.elements()));
  uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  for (T& v : x) {
    state = state * 6364136223846793005 + 1442695040888963407;
    v = static_cast<T>(static_cast<double>(static_cast<int64_t>(state)) * 0x1p-63);
  }
  return tensor::of<T>(dims, std::span<const T>{x});
}

inline tensor classes(int64_t rows, int64_t count) {
  std::vector<int32_t> y(static_cast<size_t>(rows));
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = static_cast<int32_t>((i * 7 + i / 3) % static_cast<size_t>(count));
  return tensor::of<int32_t>({rows}, std::span<const int32_t>{y});
}

}  // namespace troupe::test
