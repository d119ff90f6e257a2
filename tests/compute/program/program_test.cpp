#include "compute/program/program.hpp"

#include "tests/compute/model_fixture.hpp"
#include "tests/support/has.hpp"

#include <cmath>

namespace troupe {

using namespace test;

namespace {

/// A 4-8-3 classifier on 12 rows.
struct small {
  tensor x = noise<float>({12, 4}, 1);
  tensor y = classes(12, 3);
  std::vector<const std::byte*> feeds{x.data(), y.data()};
  trainer t;

  explicit small(const optimizer& o = momentum{.rate = 0.1f}, double rate = 0,
                 program_options options = {.batch = 12, .seed = 3}, int arenas = 1)
    : t(
        [&](graph& g) {
          return classifier(g, {4, 8, 3}, dtype::float32, o, rate);
        },
        options, arenas) {}
};

bool same(std::span<const std::byte> a, const std::byte* b) { return std::memcmp(a.data(), b, a.size()) == 0; }

}  // namespace

TEST_CASE("a network of two layers learns twelve rows by heart") {
  for (const optimizer& o :
       {optimizer{gradient_descent{.rate = 0.5f}}, optimizer{momentum{.rate = 0.1f}}, optimizer{adam{.rate = 0.03f}}}) {
    small s{o};
    for (int64_t step = 0; step < 1500; ++step)
      REQUIRE(s.t.step(s.feeds, step) == step_status::ok);
    CHECK(s.t.run->loss() < 0.05);
  }
}

TEST_CASE("a program planned twice gives the same bits") {
  small a, b;
  for (int64_t step = 0; step < 5; ++step) {
    a.t.step(a.feeds, step);
    b.t.step(b.feeds, step);
    CHECK(a.t.run->loss() == b.t.run->loss());
  }
  const auto bytes = static_cast<size_t>(a.t.layout.arena_bytes());
  CHECK(same({a.t.store->arena(0), bytes}, b.t.store->arena(0)));
  CHECK(a.t.run->to_text() == b.t.run->to_text());
}

TEST_CASE("feeds that are not aligned give the same bits as aligned ones") {
  small a, b;
  auto room = allocate_buffer(1024);
  std::memcpy(room.get() + 4, b.x.data(), static_cast<size_t>(b.x.byte_size()));
  std::memcpy(room.get() + 516, b.y.data(), static_cast<size_t>(b.y.byte_size()));
  a.t.step(a.feeds, 0);
  b.t.step({room.get() + 4, room.get() + 516}, 0);
  CHECK(same({a.t.gradient.get(), static_cast<size_t>(a.t.layout.gradient_bytes())}, b.t.gradient.get()));
}

TEST_CASE("padding of the gradient is zero whatever the memory held") {
  small s;
  s.t.run->gradients(s.t.input(s.feeds), s.t.gradient.get());
  CHECK(is_finite(s.t.layout, s.t.whole(), s.t.gradient.get()));
  const auto& e = s.t.layout.entries()[static_cast<size_t>(s.t.layout.find("dense_1/bias"))];
  const auto* x = reinterpret_cast<const float*>(s.t.gradient.get() + e.gradient_offset);
  for (int i = 3; i < 16; ++i)
    CHECK(x[i] == 0);
}

TEST_CASE("an update into a spare arena has the bits of one in place") {
  for (const optimizer& o : {optimizer{gradient_descent{}}, optimizer{momentum{.nesterov = true}}, optimizer{adam{}}}) {
    small s{o, 0, {.batch = 12}, 2};
    s.t.step(s.feeds, 0);
    s.t.run->gradients(s.t.input(s.feeds, 1), s.t.gradient.get());
    s.t.run->apply(1, s.t.whole(), s.t.gradient.get(), s.t.store->arena(0), s.t.store->arena(1));
    s.t.run->apply(1, s.t.whole(), s.t.gradient.get(), s.t.store->arena(0), s.t.store->arena(0));
    CHECK(same({s.t.store->arena(0), static_cast<size_t>(s.t.layout.arena_bytes())}, s.t.store->arena(1)));
  }
}

TEST_CASE("an update slice by slice has the bits of one of everything") {
  small a{adam{}}, b{adam{}};
  for (auto* s : {&a, &b})
    s->t.run->gradients(s->t.input(s->feeds), s->t.gradient.get());
  a.t.run->apply(0, a.t.whole(), a.t.gradient.get(), a.t.store->arena(0), a.t.store->arena(0));
  for (int r = 2; r >= 0; --r)
    b.t.run->apply(0, b.t.layout.slice(r, 3), b.t.gradient.get(), b.t.store->arena(0), b.t.store->arena(0));
  CHECK(same({a.t.store->arena(0), static_cast<size_t>(a.t.layout.arena_bytes())}, b.t.store->arena(0)));
}

TEST_CASE("the sum of the gradients of two shards is the gradient of the whole batch") {
  small all;
  small half{momentum{}, 0, {.batch = 6, .shards = 2}};
  all.t.run->gradients(all.t.input(all.feeds), all.t.gradient.get());
  auto sum = allocate_buffer(half.t.layout.gradient_bytes());
  half.t.run->gradients(half.t.input(half.feeds, 0, 0), sum.get());
  const double first = half.t.run->loss();
  half.t.run->gradients(half.t.input({half.x.data() + 6 * 4 * 4, half.y.data() + 6 * 4}, 0, 1), half.t.gradient.get());
  CHECK((first + half.t.run->loss()) / 2 == doctest::Approx(all.t.run->loss()));
  add_gradient(half.t.layout, sum.get(), half.t.gradient.get());
  const auto* x = reinterpret_cast<const float*>(sum.get());
  const auto* y = reinterpret_cast<const float*>(all.t.gradient.get());
  for (int64_t i = 0; i < half.t.layout.gradient_bytes() / 4; ++i)
    CHECK(x[i] == doctest::Approx(y[i]).epsilon(1e-4).scale(0.1));
}

TEST_CASE("a label outside the classes is bad input that names row and value") {
  small s;
  auto y = allocate_buffer(64);
  std::memcpy(y.get(), s.y.data(), 48);
  for (int32_t wrong : {3, -1, 1 << 30}) {
    reinterpret_cast<int32_t*>(y.get())[5] = wrong;
    CHECK(has(s.t.run->gradients(s.t.input({s.x.data(), y.get()}, 9), s.t.gradient.get()), step_status::bad_input));
    CHECK(s.t.run->last_error().message.starts_with("label " + std::to_string(wrong)
                                                    + " of row 5 is outside [0, 3): sparse_softmax_cross_entropy ("));
    CHECK(s.t.run->last_error().step == 9);
  }
}

TEST_CASE("a loss that is not finite is told apart from one that is") {
  small s;
  auto x = allocate_buffer(s.x.byte_size());
  std::memcpy(x.get(), s.x.data(), static_cast<size_t>(s.x.byte_size()));
  for (float bad : {std::nanf(""), INFINITY, -INFINITY}) {
    reinterpret_cast<float*>(x.get())[7] = bad;
    CHECK(s.t.run->gradients(s.t.input({x.get(), s.y.data()}), s.t.gradient.get()) == step_status::not_finite);
  }
  CHECK(s.t.run->gradients(s.t.input(s.feeds), s.t.gradient.get()) == step_status::ok);
}

TEST_CASE("a gradient that is not finite is found at either end, in its slice only") {
  small s;
  s.t.run->gradients(s.t.input(s.feeds), s.t.gradient.get());
  auto* x = reinterpret_cast<float*>(s.t.gradient.get());
  const int64_t n = s.t.layout.gradient_bytes() / 4;
  for (int64_t at : {int64_t{0}, n / 2, n - 1})
    for (float bad : {std::nanf(""), INFINITY, -INFINITY}) {
      const float good = std::exchange(x[at], bad);
      CHECK_FALSE(is_finite(s.t.layout, s.t.whole(), s.t.gradient.get()));
      CHECK(is_finite(s.t.layout, s.t.layout.slice(at == 0 ? 1 : 0, 2), s.t.gradient.get())
            == (at != n / 2 || s.t.layout.slice(0, 2).second <= at * 4));
      x[at] = good;
    }
}

TEST_CASE("a set cancel flag ends the run") {
  small s;
  std::atomic<bool> cancel{true};
  auto in = s.t.input(s.feeds);
  in.cancel = &cancel;
  CHECK(s.t.run->gradients(in, s.t.gradient.get()) == step_status::cancelled);
  cancel = false;
  CHECK(s.t.run->gradients(in, s.t.gradient.get()) == step_status::ok);
}

TEST_CASE("dropout depends on step and shard, and on nothing else") {
  small s{momentum{}, 0.5};
  const auto loss = [&](int64_t step, int32_t shard) {
    s.t.run->gradients(s.t.input(s.feeds, step, shard), s.t.gradient.get());
    return s.t.run->loss();
  };
  const double first = loss(4, 0);
  CHECK(loss(5, 0) != first);
  CHECK(loss(4, 1) != first);
  CHECK(loss(4, 0) == first);
}

TEST_CASE("a program that evaluates binds the store of the one that trains") {
  small s;
  for (int64_t step = 0; step < 20; ++step)
    s.t.step(s.feeds, step);
  graph g;
  auto spec = classifier(g, {4, 8, 3}, dtype::float32, momentum{}, 0.5, mode::evaluate);
  spec.metrics["rows"] = {spec.loss, spec.loss};
  auto p = program::make(g, spec, s.t.layout, {.batch = 12});
  REQUIRE(p);
  CHECK((*p)->run(s.t.input(s.feeds)) == step_status::ok);
  s.t.run->gradients(s.t.input(s.feeds, 20), s.t.gradient.get());
  CHECK((*p)->loss() == doctest::Approx(s.t.run->loss()));
  REQUIRE((*p)->outputs().size() == 3);
  CHECK((*p)->outputs()[0].what == program_output::kind::loss);
  for (int32_t part = 0; part < 2; ++part) {
    const auto& sum = (*p)->outputs()[static_cast<size_t>(part) + 1];
    CHECK((sum.what == program_output::kind::metric_sum && sum.index == 0 && sum.part == part));
  }
  CHECK((*p)->outputs()[1].name == "rows");
  CHECK((*p)->output(2).as<float>()[0] == doctest::Approx((*p)->loss()));
}

TEST_CASE("what cannot be planned is refused with a reason") {
  graph g;
  auto spec = classifier(g, {4, 8, 3}, dtype::float32, momentum{});
  const auto layout = *parameter_layout::of(g, spec.optimizer);
  const auto message = [&](const model_spec& m, const parameter_layout& l) {
    auto p = program::make(g, m, l, {.batch = 2});
    return p ? std::string{"planned"} : p.error().message;
  };
  CHECK(message(spec, layout) == "planned");
  SUBCASE("a loss of many numbers") {
    spec.loss = g.placeholder("z", dtype::float32, {g.unknown("batch")});
    CHECK(message(spec, layout) == "the loss must be one floating number, not float32 [batch]");
  }
  SUBCASE("no loss") {
    spec.loss = {};
    CHECK(message(spec, layout) == "the loss is not a valid symbol of this graph");
  }
  SUBCASE("no optimizer") {
    spec.optimizer.reset();
    CHECK(message(spec, layout) == "a model that trains needs an optimizer");
  }
  SUBCASE("slots of another optimizer") {
    spec.optimizer = adam{};
    CHECK(message(spec, layout)
          == "the store has not the slots of adam(rate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-08)");
  }
  SUBCASE("variables of another shape") {
    graph other;
    const auto wide = classifier(other, {4, 9, 3}, dtype::float32, momentum{});
    CHECK(message(spec, *parameter_layout::of(other, wide.optimizer))
              .find("variable 'dense/kernel' is float32 [4, 8] here and float32 [4, 9] in the store")
          == 0);
  }
  SUBCASE("an unknown that nothing binds") {
    const symbol z = g.placeholder("z", dtype::float32, {g.unknown("length")});
    spec.loss = spec.loss + reduce_sum(z);
    CHECK(has(message(spec, layout), "the unknown 'length' is not bound"));
  }
}

TEST_CASE("the plan of a dense classifier is eight kernels and a fused loss") {
  small s;
  const std::string text = s.t.run->to_text();
  INFO(text);
  CHECK(has(text, ", 9 kernels"));
  for (const char* line :
       {"matmul +bias +relu\n", "matmul +bias\n", "cross_entropy_with_gradient\n", "matmul NT +mask\n", "matmul TN\n"})
    CHECK(has(text, line));
  CHECK(s.t.run->flops() == 2 * 12 * (2 * 4 * 8 + 3 * 8 * 3));
}

TEST_CASE("a run that is watched has the same bits, and every kernel is told of once, in order") {
  small watched, alone;
  std::vector<size_t> seen;
  CHECK(watched.t.run->watch(watched.t.input(watched.feeds), watched.t.gradient.get(), [&](size_t kernel) {
    seen.push_back(kernel);
  }) == step_status::ok);
  alone.t.run->gradients(alone.t.input(alone.feeds), alone.t.gradient.get());
  CHECK(same({alone.t.gradient.get(), static_cast<size_t>(alone.t.layout.gradient_bytes())}, watched.t.gradient.get()));
  CHECK(watched.t.run->loss() == alone.t.run->loss());
  REQUIRE(static_cast<int64_t>(seen.size()) == alone.t.run->kernels());
  for (size_t k = 0; k < seen.size(); ++k)
    CHECK(seen[k] == k);
}

TEST_CASE("kernels are described with what they read and write, and their FLOPs are those of the run") {
  small s;
  const auto kernels = s.t.run->describe();
  REQUIRE(static_cast<int64_t>(kernels.size()) == s.t.run->kernels());
  CHECK(kernels[0].title == "matmul +bias +relu");
  REQUIRE(kernels[0].reads.size() == 3);
  CHECK(kernels[0].reads[0].where == "feed 0");
  CHECK(kernels[0].reads[1].name == "dense/kernel");
  CHECK(kernels[0].writes[0].bytes() == 12 * 8 * 4);
  CHECK(kernels[0].flops == 2 * 12 * 4 * 8);
  int64_t flops = 0;
  for (const auto& k : kernels)
    flops += k.flops;
  CHECK(flops == s.t.run->flops());
}

}  // namespace troupe
