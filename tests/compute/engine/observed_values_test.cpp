#include "compute/engine/observed_values.hpp"

#include "model_fixture.hpp"
#include "tests/support/has.hpp"

namespace troupe::test {

namespace {

std::string complaint(const std::function<void(graph&)>& build) {
  graph g;
  build(g);
  return g.status() ? "" : g.status().error().message;
}

}  // namespace

TEST_CASE("rows of all shards are put together in their order, and other values become their mean") {
  const std::vector<observable> observables{{"rows", true}, {"each", false}};
  const auto joined = join_observed(observables,
                                    {{tensor::of<int32_t>({2, 1}, {1, 2}), tensor::of<float>({2}, {1, 10})},
                                     {tensor::of<int32_t>({1, 1}, {3}), tensor::of<float>({2}, {3, 30})}});
  REQUIRE(joined.size() == 2);
  CHECK(joined[0] == tensor::of<int32_t>({3, 1}, {1, 2, 3}));
  CHECK(joined[1] == tensor::of<float>({2}, {2, 20}));
}

TEST_CASE("the mean is that of the pairwise tree: two shards on each of two replicas give the bits of four on one") {
  std::vector<std::vector<tensor>> sets;
  for (const double x : {0.1, 1e16, -1e16, 0.3})
    sets.push_back({tensor::scalar<double>(x)});
  CHECK(join_observed({{"x", false}}, sets)[0] == tensor::scalar<double>(((0.1 + 1e16) + (-1e16 + 0.3)) / 4));
}

TEST_CASE("what was not computed has no elements") {
  CHECK(join_observed({{"x", false}}, {}) == std::vector<tensor>{tensor{}});
  CHECK_MESSAGE(join_observed({{"x", false}}, {{}})[0].elements() == 0, "a set of another kind");
}

TEST_CASE("shards that disagree on a value yield none, and nothing beyond it is read") {
  const std::vector<observable> mean{{"x", false}}, rows{{"x", true}};
  const auto two = tensor::of<float>({2}, {1, 2}), three = tensor::of<float>({3}, {1, 2, 3});
  CHECK(join_observed(mean, {{three}, {two}})[0].elements() == 0);
  CHECK(join_observed(mean, {{two}, {tensor::of<double>({2}, {1, 2})}})[0].elements() == 0);
  CHECK(join_observed(mean, {{tensor::of<int32_t>({1}, {1})}})[0].elements() == 0);
  CHECK(join_observed(rows, {{two.reshape({1, 2})}, {three.reshape({1, 3})}})[0].elements() == 0);
  CHECK(join_observed(rows, {{tensor::scalar(1.0f)}})[0].elements() == 0);
}

TEST_CASE("a value that cannot be observed is refused by its name") {
  const auto with = [](const std::string& name, dtype type = dtype::float32, bool rows = false) {
    return complaint([&](graph& g) {
      const auto x = rows ? g.placeholder("x", type, {g.unknown("batch"), extent{2}})
                          : g.placeholder("x", type, {extent{2}});
      g.observe(name, x);
    });
  };
  CHECK(with("a").empty());
  CHECK(with("a", dtype::int32, true).empty());
  CHECK(has(with(""), "the name is empty"));
  CHECK(has(with("loss"), "'loss' is the name of a loss"));
  CHECK(has(with("loss/a"), "'loss/a' is the name of a loss"));
  CHECK(has(with("a", dtype::int32), "cast it to a floating dtype"));
  CHECK(has(complaint([](graph& g) { g.observe("a", symbol{}); }), "'a' is not a valid symbol of this graph"));
  CHECK(has(complaint([](graph& g) {
              const auto x = g.placeholder("x", dtype::float32, {extent{2}});
              g.observe("a", x);
              g.observe("a", x);
            }),
            "'a' is observed already"));
}

TEST_CASE("what is only observed is left out of a step that nobody is shown, and changes no bit of training") {
  const auto x = noise<float>({4, 6}, 3), y = classes(4, 3);
  const std::vector<const std::byte*> feeds{x.data(), y.data()};
  const auto model_of = [](bool observes) {
    return [observes](graph& g) {
      auto spec = classifier(g, {6, 5, 3}, dtype::float32, momentum{.rate = 0.1f});
      if (observes)
        g.observe("twice", spec.loss * 2.0);
      return spec;
    };
  };
  trainer plain{model_of(false), {.batch = 4}}, with{model_of(true), {.batch = 4}};
  for (int64_t s = 0; s < 20; ++s) {
    plain.step(feeds, s);
    auto in = with.input(feeds, s);
    in.record = s % 3 == 2;
    REQUIRE(with.run->gradients(in, with.gradient.get()) == step_status::ok);
    with.run->apply(s, with.whole(), with.gradient.get(), with.store->arena(0), with.store->arena(0));
    if (!in.record)
      continue;
    const auto observed = with.run->observed();
    REQUIRE(observed.size() == 1);
    CHECK(observed[0].as<float>()[0] == static_cast<float>(2 * with.run->loss()));
    CHECK(with.run->recorded().empty());
  }
  CHECK(with.value("dense/kernel") == plain.value("dense/kernel"));
  CHECK(with.value("dense_1/bias") == plain.value("dense_1/bias"));
  const auto kernels = with.run->describe();
  CHECK(std::count_if(kernels.begin(), kernels.end(), [](const kernel_facts& k) { return k.recording; }) == 1);
}

}  // namespace troupe::test
