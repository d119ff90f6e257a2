// Preparation takes time in proportion to the size of a model. If each variable were searched among all, these models
// would take minutes.
#include "compute/program/planned_update.hpp"
#include "tests/compute/model_fixture.hpp"

namespace troupe {

using namespace test;

namespace {

/// The expected result, by linear search through the groups.
const variable_group* first_that_fits(const std::vector<variable_group>& groups, std::string_view variable) {
  for (const auto& g : groups)
    if (variable.starts_with(g.prefix) && variable.ends_with(g.suffix))
      return &g;
  return nullptr;
}

}  // namespace

TEST_CASE("a variable's group is the first that fits, whatever the lengths of prefixes and suffixes") {
  const std::vector<variable_group> groups{{.prefix = "dense_1", .suffix = "bias"},
                                           {.suffix = "kernel"},
                                           {.prefix = "dense_1"},
                                           {.prefix = "dense_1/kernel"},
                                           {.prefix = "dense", .suffix = "nel"},
                                           {.prefix = "bias", .suffix = "bias"},
                                           {.prefix = "dense_1", .frozen = true},
                                           {.suffix = "a very long ending that no name has"}};
  const variable_groups lookup{groups};
  for (std::string_view name :
       {"dense_1/bias", "dense_1/kernel", "dense_12/bias", "dense/kernel", "dense/bias", "bias", "b", "", "dense_1"}) {
    CAPTURE(name);
    CHECK(lookup.of(name) == first_that_fits(groups, name));
  }
  CHECK_FALSE(lookup.freeze("dense_1/gamma"));
  const std::string_view all[] = {"dense_1/bias", "dense_1/kernel", "dense/kernel", "bias"};
  CHECK(lookup.first_without(all) == &groups[7]);
  CHECK(variable_groups{std::span{groups}.first(5)}.first_without(all) == nullptr);
  CHECK(variable_groups{std::span{groups}.first(6)}.first_without(std::span{all}.first(3)) == &groups[5]);
  CHECK(variable_groups{{}}.of("dense") == nullptr);
}

TEST_CASE("10,000 groups of one variable each have their own rates, and one group more that fits none is named") {
  constexpr int64_t count = 10000;
  graph g;
  optimizer o{.rule = gradient_descent{.rate = 0.5f}};
  for (int64_t i = 0; i < count; ++i) {
    const std::string name = "layer_" + std::to_string(i) + "/";
    g.variable({.name = name + "w", .dims = {1}});
    o.groups.push_back({.prefix = name, .rate_factor = static_cast<float>(i + 1)});
  }
  const auto layout = parameter_layout::of(g, o);
  REQUIRE(layout);
  auto store = *parameter_store::create(*layout, 1);
  auto update = planned_update::of(o, *layout);
  REQUIRE(update);
  const auto gradient = allocate_buffer(layout->gradient_bytes());
  std::fill_n(reinterpret_cast<float*>(gradient.get()), layout->gradient_bytes() / 4, 1.0f);
  update->apply(0, {0, layout->gradient_bytes()}, gradient.get(), store->arena(0), store->arena(0));
  int64_t wrong = 0;
  for (int64_t i = 0; i < count; ++i)
    wrong += store->view(0, layout->find("layer_" + std::to_string(i) + "/w")).as<float>()[0]
             != -0.5f * static_cast<float>(i + 1);
  CHECK(wrong == 0);
  o.groups.push_back({.prefix = "layer_10000/", .rate_factor = 2});
  const auto refused = parameter_layout::of(g, o);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "optimizer: no trainable variable belongs to the group \"layer_10000/*\"");
}

TEST_CASE("a model of 5,000 layers is planned and trains a step") {
  std::vector<int64_t> widths(5001, 4);
  widths.back() = 3;
  trainer t([&](graph& g) { return classifier(g, widths, dtype::float32, adam{}); }, {.batch = 4});
  REQUIRE(t.layout.find("dense_4999/kernel") >= 0);
  CHECK(t.layout.find("dense_5000/kernel") == -1);
  const tensor x = noise<float>({4, 4}, 1), y = classes(4, 3);
  CHECK(t.step({x.data(), y.data()}, 0) == step_status::ok);
}

}  // namespace troupe
