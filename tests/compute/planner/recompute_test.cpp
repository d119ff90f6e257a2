// Rematerialisation: which values are computed twice to save memory, and that results stay the same.
#include "tests/bench/models.hpp"
#include "tests/compute/model_fixture.hpp"

#include <troupe/nn.hpp>

namespace troupe {

using namespace test;

namespace {

/// Feeds for any model: floats are noise, integers are below `classes`.
std::vector<tensor> made_up(const program& p, int64_t batch, int64_t classes) {
  std::vector<tensor> all;
  for (const auto& c : p.inputs()) {
    const shape dims = c.dims.prepend(batch);
    std::vector<int32_t> numbers;
    for (int64_t i = 0; i < dims.elements(); ++i)
      numbers.push_back(static_cast<int32_t>((i * 7 + i / 5) % classes));
    all.push_back(c.type == dtype::int32 ? tensor::of<int32_t>(dims, std::span<const int32_t>{numbers})
                                         : noise<float>(dims, all.size() + 3));
  }
  return all;
}

struct arenas {
  int64_t without = 0, with = 0;
};

/// Makes three steps with and without rematerialisation; loss, gradients, parameters and records must be equal.
arenas compare(const bench::measured_model& m) {
  const auto build = [&](graph& g) { return m.build(g, adam{}); };
  trainer without{build, {.batch = m.batch, .seed = 3}}, with{build, {.batch = m.batch, .seed = 3, .recompute = true}};
  const auto feeds = made_up(*without.run, m.batch, m.classes);
  std::vector<const std::byte*> at;
  for (const auto& f : feeds)
    at.push_back(f.data());
  for (int64_t step = 0; step < 3; ++step) {
    REQUIRE(without.step(at, step) == step_status::ok);
    REQUIRE(with.step(at, step) == step_status::ok);
    CHECK(std::memcmp(without.gradient.get(), with.gradient.get(), static_cast<size_t>(without.layout.gradient_bytes()))
          == 0);
    CHECK(without.run->loss() == with.run->loss());
  }
  CHECK(std::memcmp(without.store->arena(0), with.store->arena(0), static_cast<size_t>(without.layout.arena_bytes()))
        == 0);
  auto in = without.input(at, 3), also = with.input(at, 3);
  in.record = also.record = true;
  without.run->gradients(in, without.gradient.get());
  with.run->gradients(also, with.gradient.get());
  CHECK(without.run->recorded() == with.run->recorded());
  CHECK(std::memcmp(without.gradient.get(), with.gradient.get(), static_cast<size_t>(without.layout.gradient_bytes()))
        == 0);
  return {without.run->arena_bytes(), with.run->arena_bytes()};
}

bench::measured_model of(int64_t batch, std::function<symbol(graph&, symbol)> layers) {
  return {"",
          batch,
          5,
          bench::pixels({16}),
          bench::label,
          [layers = std::move(layers)](graph& g, symbol x, symbol y, const optimizer& o) {
            return bench::classify(nn::dense(layers(g, x), {.units = 5}), y, o);
          }};
}

}  // namespace

TEST_CASE("a deep network whose layers are more than products needs a fifth less memory, with the bits of the whole") {
  const auto a = compare(bench::deep_model(12, 32, 24));
  CHECK(5 * a.with < 4 * a.without);
}

TEST_CASE("recurrent networks and transformers need less memory, with the bits of the whole") {
  const auto lstm = compare(bench::lstm_model(24, 8, 12));
  CHECK(lstm.with < lstm.without);
  const auto transformer = compare(
      bench::transformer_model({.layers = 3, .units = 16, .heads = 2, .batch = 4, .time = 12}));
  CHECK(3 * transformer.with < 2 * transformer.without);
}

TEST_CASE("what is drawn at random is drawn again to the same bits, and so is what the step assigns and records") {
  const auto a = compare(of(40, [](graph& g, symbol h) {
    for (int i = 0; i < 6; ++i) {
      h = dropout(gelu(nn::batch_norm(nn::dense(h, {.units = 16}), true)), 0.3, true);
      g.histogram("h", h);
    }
    return h;
  }));
  CHECK(a.with < a.without);
}

TEST_CASE("where nothing would be saved the plan is the one without") {
  const auto build = [](graph& g) { return classifier(g, {4, 8, 8, 3}, dtype::float32, adam{}); };
  const trainer without{build, {.batch = 12}}, with{build, {.batch = 12, .recompute = true}};
  CHECK(without.run->to_text() == with.run->to_text());
  const auto a = compare(bench::dense_model({10, 16, 2}, 8));
  CHECK(a.with == a.without);
}

TEST_CASE("products and convolutions are made once") {
  const auto count = [](const program& p, const std::string& title) {
    const std::string text = p.to_text();
    int n = 0;
    for (size_t at = text.find("\n" + title); at != std::string::npos; at = text.find("\n" + title, at + 1))
      ++n;
    return n;
  };
  const auto images = bench::lenet(2),
             sentences = bench::transformer_model({.layers = 2, .units = 8, .heads = 2, .batch = 2, .time = 6});
  for (const auto& m : {images, sentences}) {
    const auto build = [&](graph& g) { return m.build(g, adam{}); };
    const trainer without{build, {.batch = 2}}, with{build, {.batch = 2, .recompute = true}};
    CHECK(with.run->arena_bytes() <= without.run->arena_bytes());
    for (const char* title : {"matmul", "batched_matmul", "conv2d"})
      CHECK(count(*with.run, title) == count(*without.run, title));
    CHECK(with.run->flops() == without.run->flops());
  }
}

}  // namespace troupe
