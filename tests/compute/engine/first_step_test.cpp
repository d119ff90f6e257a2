// A group that begins later than its job counts its steps from there.
#include "compute/engine/step_engine.hpp"

#include <troupe/heads.hpp>
#include <troupe/nn.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

constexpr int64_t rows = 8, width = 6;

/// All that depends on the number of a step: dropout, the bias corrections of Adam, a schedule, a warmup and a moving
/// average.
model counting_model() {
  return {"counting", [](graph& g, const features& x, const labels& y, mode m) {
            const auto h = dropout(nn::dense(x["x"], {.units = 16, .activation = relu}), 0.3, m == mode::train);
            auto by = optimizer{adam{.rate = 0.1f}};
            by.schedule = exponential_decay{.decay_steps = 4, .decay_rate = 0.5};
            by.warmup_steps = 3;
            by.moving_average = 0.9f;
            return multi_class_head{.classes = 3}.spec(
                g, {.mode = m, .logits = nn::dense(h, {.units = 3}), .labels = y.only(), .optimizer = by});
          }};
}

struct counted {
  std::vector<double> losses;
  std::vector<tensor> variables;
  std::vector<double> rates;
  friend bool operator==(const counted&, const counted&) = default;
};

/// Eight steps of an engine whose group begins at `first_step`; the job's step is `from` at the first of them.
counted run_from(int64_t first_step, int64_t from) {
  const element_spec element{{{"x", dtype::float32, {width}}}, {{"y", dtype::int32, {}}}};
  const std::shared_ptr<const model_graph> built = *build_graph(counting_model(), element, mode::train);
  const auto store = *parameter_store::create(*layout_of(*built), 1);
  store->initialise(3);
  auto engine = make_program_engine({.graph = built,
                                     .delivered = element.components(),
                                     .store = store,
                                     .batch_rows = rows,
                                     .seed = 5,
                                     .first_step = first_step});
  REQUIRE_MESSAGE(engine, (engine ? "" : to_text(engine.error())));
  std::vector<float> values(rows * width);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i % 13) / 7 - 0.8f;
  const auto x = tensor::of<float>({rows, width}, values);
  const auto y = tensor::of<int32_t>({rows}, {0, 1, 2, 0, 1, 2, 0, 1});
  const std::byte* const feeds[] = {x.data(), y.data()};
  const batch_feeds in{feeds, rows};
  const auto recipes = (*engine)->summaries();
  counted seen;
  for (int64_t step = from; step < from + 8; ++step) {
    REQUIRE((*engine)->gradients(step, in, 0) == step_status::ok);
    seen.losses.push_back((*engine)->loss());
    (*engine)->apply(step, (*engine)->gradient(), 0, 0);
    seen.rates.push_back(learning_rate(*recipes.by, step + 1 - recipes.first_step));
  }
  REQUIRE((*engine)->expose(from + 8, in, 0) == step_status::ok);
  seen.losses.push_back((*engine)->loss());
  for (size_t i = 0; i < store->layout().entries().size(); ++i)
    seen.variables.push_back(store->view(0, static_cast<int32_t>(i)));
  return seen;
}

}  // namespace

TEST_CASE("an engine whose group begins at step 1000 has the bits of one that begins at 0, a thousand steps earlier") {
  const auto at_once = run_from(0, 0);
  CHECK(run_from(1000, 1000) == at_once);
  const auto uncounted = run_from(0, 1000);
  CHECK_FALSE(uncounted.losses == at_once.losses);
  CHECK_FALSE(uncounted.rates == at_once.rates);
  CHECK_FALSE(uncounted.variables == at_once.variables);
}

TEST_CASE("a bad value is looked for with the random numbers of the step in which it arose") {
  const auto found = [](int64_t first_step, int64_t from) {
    const element_spec element{{{"x", dtype::float32, {width}}}, {}};
    const auto source = model{"dropping", [](graph& g, const features& x, const labels&, mode m) {
                                const auto w = g.variable({.name = "w", .dims = {width}, .initial = init::ones()});
                                model_spec spec;
                                spec.mode = m;
                                spec.loss = reduce_sum(mul(log(dropout(x["x"], 0.1, true)), w));
                                spec.optimizer = gradient_descent{};
                                return spec;
                              }};
    const std::shared_ptr<const model_graph> built = *build_graph(source, element, mode::train);
    const auto store = *parameter_store::create(*layout_of(*built), 1);
    store->initialise(1);
    const auto engine = *make_program_engine({.graph = built,
                                              .delivered = element.components(),
                                              .store = store,
                                              .batch_rows = rows,
                                              .seed = 5,
                                              .first_step = first_step});
    const std::vector<float> ones(rows * width, 1.0f);
    const std::byte* const feeds[] = {reinterpret_cast<const std::byte*>(ones.data())};
    std::vector<std::string> faults;
    for (int64_t step = from; step < from + 4; ++step)
      if (const auto fault = engine->find_fault(step, {feeds, rows}, 0))
        faults.push_back(to_string(*fault));
    return faults;
  };
  const auto at_once = found(0, 0);
  CHECK(at_once.size() == 4);
  CHECK(found(1000, 1000) == at_once);
  CHECK_FALSE(found(0, 1000) == at_once);
}

}  // namespace troupe::test
