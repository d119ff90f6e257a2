// The gradients of shards are averaged or summed, by one replica or several.
#include "compute/engine/gradient_reduction.hpp"
#include "compute/engine/step_engine.hpp"
#include "tests/compute/operations/values.hpp"

#include <troupe/heads.hpp>
#include <troupe/nn.hpp>

namespace troupe::test {

namespace {

constexpr int32_t shards = 4;

struct reduced {
  double loss = 0;  ///< The mean over replicas of the last step's.
  std::map<std::string, tensor> variables = {};
};

/// Makes steps with these batches, each divided into four shards.
reduced after_steps(const model& source, const element_spec& element, const std::vector<tensor>& batches,
                    int32_t replicas) {
  const std::shared_ptr<const model_graph> built = *build_graph(source, element, mode::train);
  const auto store = *parameter_store::create(*layout_of(*built), 1);
  store->initialise(3);
  const int64_t rows = batches.front().dims().extents()[0] / replicas;
  std::vector<std::unique_ptr<step_engine>> engines;
  for (int32_t r = 0; r < replicas; ++r) {
    auto engine = make_program_engine({.graph = built,
                                       .delivered = element.components(),
                                       .store = store,
                                       .replica = r,
                                       .replicas = replicas,
                                       .shards = shards,
                                       .batch_rows = rows});
    REQUIRE_MESSAGE(engine, (engine ? "" : to_text(engine.error())));
    engines.push_back(std::move(*engine));
  }
  auto sums = gradient_reduction::plan({store, &store->layout()}, replicas);
  REQUIRE(sums);
  reduced end;
  for (size_t step = 0; step < batches.size(); ++step) {
    std::vector<tensor> parts;
    end.loss = 0;
    for (int32_t r = 0; r < replicas; ++r) {
      auto& engine = *engines[static_cast<size_t>(r)];
      const std::byte* const feeds[] = {batches[step].data() + r * (batches[step].byte_size() / replicas)};
      REQUIRE(engine.gradients(static_cast<int64_t>(step), {feeds, rows}, 0) == step_status::ok);
      parts.push_back(engine.gradient());
      end.loss += engine.loss() / replicas;
    }
    const tensor sum = replicas == 1 ? parts.front() : sums->sum(parts);
    for (const auto& engine : engines)
      engine->apply(static_cast<int64_t>(step), sum, 0, 0);
  }
  for (const auto& e : store->layout().entries())
    end.variables[e.name] = store->view(0, store->layout().find(e.name));
  return end;
}

const element_spec numbers_alone{{{"x", dtype::float32, {}}}, {}};

/// The gradient of w, which begins at 1, is the mean of x over the rows of a shard, and the loss as long as w is 1.
/// `rows` counts rows, and `middle` is the mean of x over the batch.
model slopes(const optimizer& by) {
  return {"slopes", [by](graph& g, const features& x, const labels&, mode m) {
            const auto w = g.variable({.name = "w", .dims = {}, .initial = init::ones()});
            const auto rows = g.variable({.name = "rows", .dims = {}, .trainable = false, .replicas = combine::sum});
            const auto middle = g.variable({.name = "middle", .dims = {}, .trainable = false});
            g.assign(rows, rows + reduce_sum(cast(equal(x["x"], x["x"]), dtype::float32)));
            g.assign(middle, reduce_mean(x["x"]));
            model_spec spec;
            spec.mode = m;
            spec.loss = mul(w, reduce_mean(x["x"]));
            spec.optimizer = by;
            return spec;
          }};
}

/// A step of rate 1 with a row in each of four shards, whose gradients are 1, 2, 3 and 4.
reduced one_to_four(const optimizer& by, int32_t replicas = 1) {
  return after_steps(slopes(by), numbers_alone, {f32({4}, {1, 2, 3, 4})}, replicas);
}

const gradient_descent at_once{.rate = 1};

/// Rows of a table are looked up. Each row of a batch has two of them, and a class that follows from them.
model words(const optimizer& by) {
  return {"words", [by](graph&, const features& x, const labels&, mode m) {
            const auto ids = x["ids"];
            const auto rows = nn::embedding(ids, {.entries = 40, .units = 3});
            const auto h = nn::batch_norm(nn::dense(reshape(rows, {extent{-1}, extent{6}}), {.units = 8}),
                                          m == mode::train);
            const auto y = reshape(slice(ids, 1, 0, 1), {extent{-1}});
            model_spec spec;
            spec.mode = m;
            spec.loss = reduce_mean(sparse_softmax_cross_entropy(y, nn::dense(relu(h), {.units = 40})));
            spec.optimizer = by;
            return spec;
          }};
}

reduced after_words(const optimizer& by, int32_t replicas) {
  std::vector<tensor> batches;
  for (int32_t b = 0; b < 3; ++b) {
    std::vector<int32_t> ids(32);
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = (static_cast<int32_t>(i * i) + 7 * b) % 40;
    batches.push_back(tensor::of<int32_t>({16, 2}, ids));
  }
  return after_steps(words(by), {{{"ids", dtype::int32, {2}}}, {}}, batches, replicas);
}

}  // namespace

TEST_CASE("the gradients 1, 2, 3 and 4 of shards are applied as 2.5 by mean and as 10 by sum; the loss is a mean") {
  for (const int32_t replicas : {1, 2, 4}) {
    CAPTURE(replicas);
    const auto mean = one_to_four(at_once, replicas),
               sum = one_to_four({.rule = at_once, .reduce = reduction::sum}, replicas);
    CHECK(mean.variables.at("w") == f32({}, {1 - 2.5f}));
    CHECK(sum.variables.at("w") == f32({}, {1 - 10.0f}));
    CHECK(mean.loss == 2.5);
    CHECK(sum.loss == 2.5);
  }
}

TEST_CASE("a sum is clipped as it is: by its own elements, its own norm and its own global norm") {
  for (const auto& [limit, mean, sum] : {std::tuple{5.0f, 2.5f, 5.0f}, {2.0f, 2.0f, 2.0f}, {20.0f, 2.5f, 10.0f}})
    for (const clipping& clip : {clipping{.value = limit}, clipping{.norm = limit}, clipping{.global_norm = limit}}) {
      CAPTURE(limit);
      CHECK(one_to_four({.rule = at_once, .clip = clip}).variables.at("w") == f32({}, {1 - mean}));
      CHECK(one_to_four({.rule = at_once, .reduce = reduction::sum, .clip = clip}).variables.at("w")
            == f32({}, {1 - sum}));
    }
}

TEST_CASE("variables that a model assigns are combined as each says, whether gradients are averaged or summed") {
  for (const auto how : {reduction::mean, reduction::sum})
    for (const int32_t replicas : {1, 4}) {
      const auto end = one_to_four({.rule = at_once, .reduce = how}, replicas);
      CHECK(end.variables.at("rows") == f32({}, {4}));
      CHECK(end.variables.at("middle") == f32({}, {2.5f}));
    }
}

TEST_CASE("four shards of one replica and of four have the same bits by sum: tables, fused losses, clipping, slots") {
  for (const optimizer& by :
       {optimizer{.rule = momentum{.rate = 0.1f}, .reduce = reduction::sum},
        optimizer{.rule = adam{.rate = 0.1f}, .reduce = reduction::sum, .clip = {.norm = 0.5f}},
        optimizer{.rule = lamb{}, .reduce = reduction::sum, .clip = {.global_norm = 0.5f}, .moving_average = 0.9f}}) {
    CAPTURE(to_text(by));
    const auto one = after_words(by, 1);
    for (const int32_t replicas : {2, 4})
      CHECK(after_words(by, replicas).variables == one.variables);
  }
}

TEST_CASE("a sum over four shards is four times their mean in every bit, tables and assigned variables included") {
  // The factor is a power of two, and so is the quotient of the rates.
  const auto mean = after_words(gradient_descent{.rate = 0.5f}, 1);
  const auto sum = after_words({.rule = gradient_descent{.rate = 0.125f}, .reduce = reduction::sum}, 1);
  CHECK(sum.variables == mean.variables);
  CHECK(sum.loss == mean.loss);
  CHECK_FALSE(after_words({.rule = gradient_descent{.rate = 0.5f}, .reduce = reduction::sum}, 1).variables
              == mean.variables);
}

}  // namespace troupe::test
