// A retired group no longer applies updates, but still computes its loss and the outputs that others read.
#include "compute/engine/step_engine.hpp"
#include "tests/support/has.hpp"

#include <troupe/dataset.hpp>
#include <troupe/heads.hpp>
#include <troupe/nn.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

constexpr int64_t rows = 8, width = 6;

model shown_model() {
  return {"shown", [](graph& g, const features& x, const labels& y, mode m) {
            auto h = nn::dense(x["x"], {.units = 16, .activation = relu});
            h = dropout(nn::batch_norm(h, m == mode::train, {}), 0.3, m == mode::train);
            const auto logits = nn::dense(h, {.units = 3});
            g.scalar("mean", reduce_mean(logits));
            auto spec = multi_class_head{.classes = 3}.spec(
                g, {.mode = m, .logits = logits, .labels = y.only(), .optimizer = momentum{.rate = 0.1f}});
            spec.predictions = {{"hidden", h}, {"logits", logits}, {"twice", spec.loss * 2.f}};
            return spec;
          }};
}

struct exposing {
  std::shared_ptr<const model_graph> built;
  std::shared_ptr<parameter_store> store;
  std::unique_ptr<step_engine> engine;
  tensor x, y;

  explicit exposing(int32_t shards, const std::string& loss = {}) {
    const element_spec element{{{"x", dtype::float32, {width}}}, {{"y", dtype::int32, {}}}};
    auto made = build_graph(shown_model(), element, mode::train);
    REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
    built = std::move(*made);
    store = *parameter_store::create(*layout_of(*built), 1);
    store->initialise(3);
    auto planned = make_program_engine({.graph = built,
                                        .delivered = element.components(),
                                        .store = store,
                                        .shards = shards,
                                        .batch_rows = rows,
                                        .seed = 5,
                                        .expose = {"logits", "hidden"},
                                        .exposed_loss = loss});
    REQUIRE_MESSAGE(planned, (planned ? "" : to_text(planned.error())));
    engine = std::move(*planned);
    std::vector<float> values(rows * width);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i % 13) / 7 - 0.8f;
    x = tensor::of<float>({rows, width}, values);
    y = tensor::of<int32_t>({rows}, {0, 1, 2, 0, 1, 2, 0, 1});
  }

  struct seen {
    std::vector<float> logits = std::vector<float>(static_cast<size_t>(rows) * 3),
                       hidden = std::vector<float>(static_cast<size_t>(rows) * 16);
    double loss = 0;
    friend bool operator==(const seen&, const seen&) = default;
  };
  seen show(int64_t step, bool forward, int64_t count = rows) {
    seen s;
    const std::byte* feeds[] = {x.data(), y.data()};
    std::byte* into[] = {reinterpret_cast<std::byte*>(s.logits.data()), reinterpret_cast<std::byte*>(s.hidden.data())};
    const batch_feeds in{feeds, count, false, false, false, into};
    REQUIRE((forward ? engine->expose(step, in, 0) : engine->gradients(step, in, 0)) == step_status::ok);
    s.loss = engine->loss();
    return s;
  }
};

}  // namespace

TEST_CASE(
    "what a replica shows has the same bits with and without the backward pass, dropout and batch statistics "
    "included") {
  for (const int32_t shards : {1, 4}) {
    CAPTURE(shards);
    exposing e{shards};
    for (int64_t step = 0; step < 6; ++step) {
      const auto trained = e.show(step, false);
      CHECK(e.show(step, true) == trained);
      CHECK_MESSAGE(e.show(step, false) == trained, "neither disturbs the other");
      e.engine->apply(step, e.engine->gradient(), 0, 0);
    }
    CHECK_MESSAGE(e.show(7, true, 4) == e.show(7, false, 4), "a last, smaller batch");
    CHECK(e.engine->recorded(0).empty());
  }
}

TEST_CASE("the loss of a retired replica may be another than the one that it minimised") {
  exposing plain{2}, other{2, "twice"};
  const auto loss = plain.show(0, false).loss;
  CHECK(other.show(0, false).loss == loss);
  CHECK(other.show(0, true).loss == 2 * loss);
  CHECK(plain.show(0, true).loss == loss);
}

TEST_CASE("a program without the backward pass has fewer kernels, no gradient and no summaries") {
  exposing e{1};
  const auto plan = [&](bool forward_only) {
    const program_options options{.batch = rows, .seed = 5, .expose = {"logits"}};
    return forward_only ? *program::make_forward(e.built->g, e.built->spec, e.store->layout(), options)
                        : *program::make(e.built->g, e.built->spec, e.store->layout(), options);
  };
  const auto whole = plan(false), cut = plan(true);
  CHECK(cut->flops() * 2 < whole->flops());
  CHECK(cut->kernels() < whole->kernels());
  CHECK(cut->outputs().size() == whole->outputs().size());
  CHECK(cut->inputs().size() == whole->inputs().size());
  CHECK_FALSE(has(cut->to_text(), "(for summaries)"));
}

}  // namespace troupe::test
