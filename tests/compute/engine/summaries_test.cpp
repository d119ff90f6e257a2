#include "compute/engine/summaries.hpp"

#include "compute/graph/graph.hpp"
#include "model_fixture.hpp"
#include "tests/support/has.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace troupe::test {

namespace {

using kind = summary_value::kind;

/// The fixture's classifier with the summaries that `extra` adds.
std::function<model_spec(graph&)> recording(std::function<void(graph&, symbol loss)> extra) {
  return [extra = std::move(extra)](graph& g) {
    auto spec = classifier(g, {6, 5, 3}, dtype::float32, momentum{.rate = 0.1f});
    extra(g, spec.loss);
    return spec;
  };
}

struct fed {
  tensor x = noise<float>({4, 6}, 3), y = classes(4, 3);
  std::vector<const std::byte*> feeds{x.data(), y.data()};
};

std::string complaint(const std::function<void(graph&)>& record) {
  graph g;
  record(g);
  return g.status() ? "" : g.status().error().message;
}

size_t bucket_by_search(const histogram& h, double value) {
  size_t b = 0;
  while (value > h.limits[b])
    ++b;
  return b;
}

}  // namespace

TEST_CASE(
    "what only a summary needs is left out of a step that records nothing, and neither changes a bit of training") {
  const fed f;
  trainer plain{recording([](graph&, symbol) {}), {.batch = 4}};
  trainer with{recording([](graph& g, symbol loss) {
                 g.scalar("twice", scale(loss, 2));
                 g.histogram("spread", mul(loss, loss));
               }),
               {.batch = 4}};
  for (int64_t s = 0; s < 20; ++s) {
    plain.step(f.feeds, s);
    auto in = with.input(f.feeds, s);
    in.record = s % 3 == 2;
    REQUIRE(with.run->gradients(in, with.gradient.get()) == step_status::ok);
    with.run->apply(s, with.whole(), with.gradient.get(), with.store->arena(0), with.store->arena(0));
    if (!in.record)
      continue;
    const auto recorded = with.run->recorded();
    REQUIRE(recorded.size() == 2);
    const auto loss = static_cast<float>(with.run->loss());
    CHECK(recorded[0].as<float>()[0] == loss * 2);
    CHECK(recorded[1].as<float>()[0] == loss * loss);
  }
  CHECK(with.value("dense/kernel") == plain.value("dense/kernel"));
  CHECK(with.value("dense_1/bias") == plain.value("dense_1/bias"));
  CHECK(has(with.run->to_text(), "(for summaries)"));
  CHECK_FALSE(has(plain.run->to_text(), "(for summaries)"));
}

TEST_CASE("a step that records nothing leaves the last record where it was") {
  const fed f, other{.x = noise<float>({4, 6}, 9)};
  trainer t{recording([](graph& g, symbol loss) { g.scalar("twice", scale(loss, 2)); }), {.batch = 4}};
  auto in = t.input(f.feeds);
  in.record = true;
  t.run->gradients(in, t.gradient.get());
  const auto first = t.run->recorded();
  const std::vector<const std::byte*> others{other.x.data(), f.y.data()};
  t.run->gradients(t.input(others), t.gradient.get());
  in.feeds = others;
  t.run->gradients(in, t.gradient.get());
  CHECK_FALSE(t.run->recorded()[0] == first[0]);
}

TEST_CASE("feeds, variables and values inside a fused layer can be recorded") {
  const fed f;
  symbol inside, fed_in, variable;
  trainer t{[&](graph& g) {
              auto spec = classifier(g, {6, 5, 3}, dtype::float32, momentum{});
              // The first product: without the summary it is fused with the bias and relu that follow.
              for (int32_t n = 0; n < static_cast<int32_t>(contents_of(g).nodes.size()); ++n)
                if (contents_of(g).nodes[static_cast<size_t>(n)].name == "dense/matmul")
                  g.histogram("product", symbol_of(g, n));
              g.histogram("x", symbol_of(g, contents_of(g).placeholders[0]));
              g.histogram("kernel", symbol_of(g, contents_of(g).variables[0].node));
              return spec;
            },
            {.batch = 4}};
  const tensor kernel = t.value("dense/kernel");
  auto in = t.input(f.feeds);
  in.record = true;
  t.run->gradients(in, t.gradient.get());
  const auto recorded = t.run->recorded();
  REQUIRE(recorded.size() == 3);
  CHECK(recorded[0].dims() == shape{4, 5});
  double product = 0;
  for (size_t k = 0; k < 6; ++k)
    product += static_cast<double>(f.x.as<float>()[k]) * static_cast<double>(kernel.as<float>()[k * 5]);
  CHECK(static_cast<double>(recorded[0].as<float>()[0]) == doctest::Approx(product));
  CHECK(recorded[1] == f.x);
  CHECK(recorded[2] == kernel);
}

TEST_CASE("what cannot be recorded is an error of the graph that names it") {
  CHECK(complaint([](graph& g) {
          g.scalar("x", g.placeholder("p", dtype::float32, {3}));
        }).find("scalar: 'x' must be one number, not [3]")
        == 0);
  CHECK(has(complaint([](graph& g) { g.scalar("", g.placeholder("p", dtype::float32, {})); }), "the tag is empty"));
  CHECK(has(complaint([](graph& g) { g.histogram("h", symbol{}); }), "'h' is not a valid symbol"));
  CHECK(has(complaint([](graph& g) { g.histogram("h", g.placeholder("p", dtype::boolean, {3})); }), "is boolean"));
  CHECK(complaint([](graph& g) {
          g.image("i", g.placeholder("p", dtype::float32, {2, 8, 8, 2}));
        }).find("[n, height, width, 1, 3 or 4], not [2, 8, 8, 2]")
        != std::string::npos);
  CHECK(has(complaint([](graph& g) {
              g.image("i", g.placeholder("p", dtype::int32, {2, 8, 8, 1}));
            }),
            "uint8 or floating, not int32"));
  CHECK(has(complaint([](graph& g) {
              g.image("i", g.placeholder("p", dtype::uint8, {2, 8, 8, 1}), 0);
            }),
            "asks for 0 images; 1 to 16"));
  CHECK(has(complaint([](graph& g) { g.text("", "words"); }), "the tag is empty"));
}

TEST_CASE("a tag stands under its scope, and one that is taken gets a number") {
  graph g;
  const auto x = g.placeholder("p", dtype::int32, {});
  g.scalar("loss", x);
  {
    const auto scope = g.scope("head");
    g.scalar("loss", x);
    g.scalar("loss", x);
  }
  REQUIRE(g.status());
  std::vector<std::string> tags;
  for (const auto& s : contents_of(g).summaries)
    tags.push_back(s.tag);
  CHECK(tags == std::vector<std::string>{"loss", "head/loss", "head/loss_1"});
}

TEST_CASE("a histogram counts every finite value in the bucket whose limits hold it") {
  std::vector<double> values{0.0,  -0.0,  1e-12, 1e-13, -1e-12, 1,      1.1,   -1,
                             1e19, -1e25, 1e25,  1e300, -1e300, 3.5e38, 5e-324};
  const auto many = noise<double>({2000}, 5);
  values.insert(values.end(), many.as<double>().begin(), many.as<double>().end());
  for (double e = -30; e < 30; e += 0.37)
    values.push_back(std::exp(e));
  const tensor t = tensor::of<double>({static_cast<int64_t>(values.size())}, std::span<const double>{values});
  const auto h = histogram_of(std::span{&t, 1});
  REQUIRE(h.limits.size() == h.counts.size());
  CHECK(std::is_sorted(h.limits.begin(), h.limits.end()));
  CHECK(h.limits.back() == std::numeric_limits<double>::max());
  std::vector<double> wanted(h.counts.size());
  for (double v : values)
    wanted[bucket_by_search(h, v)] += 1;
  CHECK(h.counts == wanted);
  CHECK(h.count == static_cast<double>(values.size()));
  CHECK(h.least == -1e300);
  CHECK(h.greatest == 1e300);
  CHECK(h.not_finite == 0);
}

TEST_CASE("a histogram's buckets grow by a tenth, and float32 values on a limit fall below it") {
  const tensor t = tensor::of<float>({4}, {0.5f, 0.5f, -2.0f, 0.0f});
  const auto h = histogram_of(std::span{&t, 1});
  const auto zero = bucket_by_search(h, 0);
  CHECK(h.limits[zero] == 0);
  CHECK(h.counts[zero] == 1);
  CHECK(h.limits[zero + 1] == 1e-12);
  CHECK(h.limits[zero + 2] == doctest::Approx(1.1e-12));
  CHECK(h.counts[bucket_by_search(h, 0.5)] == 2);
  CHECK(h.sum == -1);
  CHECK(h.sum_of_squares == 4.5);
}

TEST_CASE("values that are not finite are counted apart") {
  const float inf = std::numeric_limits<float>::infinity();
  const tensor t = tensor::of<float>({4}, {inf, -inf, std::nanf(""), 2.0f});
  const auto h = histogram_of(std::span{&t, 1});
  CHECK(h.not_finite == 3);
  CHECK(h.count == 1);
  CHECK(std::accumulate(h.counts.begin(), h.counts.end(), 0.0) == 1);
  CHECK(h.least == 2);
}

TEST_CASE("sets of several shards become one value: means of scalars, joint histograms, the first set's pictures") {
  const std::vector<summary_recipe> recipes{{kind::scalar, "a", {}},
                                            {kind::histogram, "h", {}},
                                            {kind::image, "i", {}},
                                            {kind::histogram, "kernel", {}},
                                            {kind::text, "t", "words"}};
  const auto picture = tensor::of<float>({2, 1, 2, 1}, {0.0f, 1.0f, 2.0f, std::nanf("")});
  const recorded_sets sets{{{3, tensor::of<float>({3}, {7, 8, 9})},
                            {0, tensor::scalar(1.0f)},
                            {1, tensor::of<float>({2}, {1, 2})},
                            {2, picture}},
                           {{0, tensor::scalar(4.0f)}, {1, tensor::of<float>({2}, {3, 4})}, {2, picture}}};
  const auto values = summarise(recipes, sets, true);
  REQUIRE(values.size() == 6);
  CHECK(values[0].scalar == 2.5);
  CHECK(values[1].histogram.count == 4);
  CHECK(values[2].tag == "i/image/0");
  CHECK(values[2].image == tensor::of<uint8_t>({1, 2, 1}, {0, 255}));
  CHECK_MESSAGE(values[3].image == tensor::of<uint8_t>({1, 2, 1}, {255, 0}), "clipped; NaN is 0");
  CHECK_MESSAGE(values[4].histogram.sum == 24, "all replicas have the variables in common");
  CHECK(values[5].text == "words");
  CHECK_MESSAGE(summarise(recipes, sets, false).size() == 5, "texts are kept once");
}

TEST_CASE("of a batch of pictures only those that are kept are copied") {
  graph g;
  trainer t{[](graph& graph_) {
              const symbol p = graph_.placeholder("p", dtype::uint8, {graph_.unknown("batch"), 2, 2, 1});
              const symbol w = graph_.variable({.name = "w", .dims = {1}});
              graph_.image("pictures", p, 2);
              model_spec spec;
              spec.loss = reduce_mean(mul(w, reduce_mean(cast(p, dtype::float32))));
              spec.optimizer = gradient_descent{};
              return spec;
            },
            {.batch = 5}};
  std::vector<uint8_t> bytes(20);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  const tensor p = tensor::of<uint8_t>({5, 2, 2, 1}, std::span<const uint8_t>{bytes});
  const std::vector<const std::byte*> feeds{p.data()};
  auto in = t.input(feeds);
  in.record = true;
  REQUIRE(t.run->gradients(in, t.gradient.get()) == step_status::ok);
  CHECK(t.run->recorded().at(0) == p.slice(0, 2));
}

TEST_CASE("the learning rate that is shown is the optimizer's") {
  CHECK(learning_rate(adam{.rate = 0.5f}, 10) == 0.5);
  CHECK(learning_rate(momentum{.rate = 0.25f}, 0) == 0.25);
  CHECK(learning_rate(gradient_descent{}, 0) == doctest::Approx(0.01));
  // The update that makes state 4 is the fourth: three came before it.
  const optimizer o{.rule = adam{.rate = 0.5f},
                    .schedule = piecewise_constant{.boundaries = {2}, .values = {1, 0.25f}},
                    .warmup_steps = 2};
  CHECK(learning_rate(o, 0) == 0.5);
  CHECK(learning_rate(o, 1) == 0.5);
  CHECK(learning_rate(o, 3) == 1);
  CHECK(learning_rate(o, 4) == 0.25);
}

}  // namespace troupe::test
