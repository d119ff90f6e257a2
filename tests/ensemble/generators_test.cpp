#include "compute/graph/model_graph.hpp"
#include "ensemble/iteration_basis.hpp"
#include "ensemble/names.hpp"
#include "tests/ensemble/graphs/small_search.hpp"

#include <cmath>

namespace troupe::test {

namespace {

std::vector<std::string> offered(const generator& make, const std::optional<std::string>& newest = {}) {
  generator_input in{.iteration = newest ? 1 : 0};
  if (newest)
    in.previous = architecture{.members = {{0, "linear"}, {0, *newest}}};
  std::vector<std::string> names;
  for (const auto& b : make(in))
    names.push_back(b.name);
  return names;
}

/// The subnetwork that the first builder of a generator makes of images of 4 × 4.
subnetwork first_of(const generator& make, graph& g, std::map<std::string, shape>* variables = nullptr,
                    size_t number = 0) {
  const symbol image = g.placeholder("image", dtype::float32, {g.unknown("batch"), 4, 4});
  const build_context c{{&g, {{"image", image}}}, {&g, {}}, mode::train, 3, 0};
  auto made = make({})[number].build(g, c);
  REQUIRE_MESSAGE(g.status(), (g.status() ? "" : to_text(g.status().error())));
  if (variables)
    for (const auto& v : contents_of(g).variables)
      (*variables)[v.options.name] = v.options.dims;
  return made;
}

}  // namespace

TEST_CASE("[ADA-22.2 complexity] a dense network of depth 0, 1 and 2 has the complexity 0, 1 and 1.414") {
  for (const int64_t depth : {0, 1, 2}) {
    graph g;
    const auto made = first_of(generators::simple_dnn({.initial_num_layers = depth}), g);
    CHECK(*made.complexity == doctest::Approx(std::sqrt(static_cast<double>(depth))).epsilon(1e-12));
  }
}

TEST_CASE("simple_dnn offers the depth of the newest member and one more layer") {
  using texts = std::vector<std::string>;
  const auto make = generators::simple_dnn({});
  CHECK(offered(make) == texts{"linear", "1_layer_dnn"});
  CHECK(offered(make, "linear") == texts{"linear", "1_layer_dnn"});
  CHECK(offered(make, "2_layer_dnn") == texts{"2_layer_dnn", "3_layer_dnn"});
  CHECK(offered(generators::simple_dnn({.initial_num_layers = 3})) == texts{"3_layer_dnn", "4_layer_dnn"});
  for (const std::string odd : {"dnn", "02_layer_dnn", "-1_layer_dnn", "2_layer_dnn_"}) {
    CAPTURE(odd);
    CHECK_THROWS_WITH_AS(offered(make, odd), doctest::Contains("cannot tell that of"), std::invalid_argument);
  }
}

TEST_CASE("the networks of generators have these variables") {
  using variables = std::map<std::string, shape>;
  graph dense, image, flat;
  variables of_dense, of_image, of_flat;
  first_of(generators::simple_dnn({.layer_size = 5, .dropout = .1}), dense, &of_dense, 1);
  CHECK(of_dense
        == variables{
            {"hidden_0/kernel", {16, 5}}, {"hidden_0/bias", {5}}, {"logits/kernel", {5, 3}}, {"logits/bias", {3}}});
  first_of(generators::simple_cnn({}), image, &of_image);
  CHECK(of_image
        == variables{{"conv2d/kernel", {3, 3, 1, 16}},
                     {"conv2d/bias", {16}},
                     {"dense/kernel", {64, 64}},
                     {"dense/bias", {64}},
                     {"logits/kernel", {64, 3}},
                     {"logits/bias", {3}}});
  const auto linear = first_of(generators::linear({}), flat, &of_flat);
  CHECK(of_flat == variables{{"logits/kernel", {16, 3}}, {"logits/bias", {3}}});
  CHECK(*linear.complexity == 0);
}

TEST_CASE("equal networks of two iterations begin with different values, with a seed of their own too (QUIRK-14)") {
  for (const std::optional<uint64_t> seed : {std::optional<uint64_t>{}, std::optional<uint64_t>{3}}) {
    auto o = small_options();
    o.subnetwork_generator = generators::simple_dnn({.layer_size = 4, .initial_num_layers = 1, .seed = seed});
    small_search first{o};
    const auto initial = first.variables();
    small_search second{o, first.books_after(0)};
    const auto in = [](int64_t t) { return subnetwork_scope(t, "1_layer_dnn") + "/hidden_0/kernel"; };
    CHECK_FALSE(initial.at(in(0)) == second.variables().at(in(1)));
    CHECK(initial.at(in(0)) == small_search{o}.variables().at(in(0)));
    o.subnetwork_generator = generators::simple_dnn({.layer_size = 4, .initial_num_layers = 1, .seed = 4});
    CHECK_FALSE(initial.at(in(0)) == small_search{o}.variables().at(in(0)));
  }
}

TEST_CASE("options out of range are errors of the search with the option and its value") {
  const auto refuse = [](const generator& make, const std::string& text) {
    refused(basis_of(small_options(), {}).and_then([&](const auto&) {
      auto o = small_options();
      o.subnetwork_generator = make;
      return basis_of(o, {});
    }),
            errc::state, text);
  };
  refuse(generators::simple_dnn({.layer_size = 0}), "simple_dnn: layer_size must be at least 1, not 0");
  refuse(generators::simple_dnn({.initial_num_layers = -1}),
         "simple_dnn: initial_num_layers must be at least 0, not -1");
  refuse(generators::simple_dnn({.dropout = 1}), "simple_dnn: dropout must be in [0, 1), not 1");
  refuse(generators::simple_cnn({.filters = 0}), "simple_cnn: filters must be at least 1, not 0");
  refuse(generators::simple_cnn({.units = 0}), "simple_cnn: units must be at least 1, not 0");
}

TEST_CASE("features of another kind are refused with the builder and the feature") {
  auto o = small_options();
  const auto refuse = [&](const generator& make, const std::string& builder, const tensors& data, errc category,
                          const std::string& text) {
    o.subnetwork_generator = make;
    refused(built(subnetwork_model(basis_with(o), builder), data), category, text);
  };
  auto data = small_data();
  data["n"] = tensor::of<int32_t>({8}, {0, 1, 2, 3, 4, 5, 6, 7});
  refuse(generators::linear({}), "linear", data, errc::type,
         "the builder 'linear': feature 'n' must be float32, not int32");
  refuse(generators::simple_dnn({.features = {"z"}}), "linear", data, errc::key_missing, "no component is called 'z'");
  refuse(
      generators::simple_cnn({}), "simple_cnn", small_data(), errc::invalid_argument,
      "the builder 'simple_cnn' needs float32 images [height, width] or [height, width, channels] (see input_shape), "
      "not float32 of rank 1");
  refuse(generators::simple_cnn({.input_shape = {28, 28}}), "simple_cnn", small_data(), errc::invalid_argument,
         "the builder 'simple_cnn': an input_shape of [28, 28] does not hold the 2 numbers of an example");
}

TEST_CASE("a flat feature is an image for simple_cnn, if its shape is given") {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{4, 4}, {4, 4, 1}}) {
    graph g;
    const symbol flat = g.placeholder("pixels", dtype::float32, {g.unknown("batch"), 16});
    const build_context c{{&g, {{"pixels", flat}}}, {&g, {}}, mode::train, 3, 0};
    const auto made = generators::simple_cnn({.input_shape = dims})({})[0].build(g, c);
    REQUIRE_MESSAGE(g.status(), (g.status() ? "" : to_text(g.status().error())));
    CHECK(made.last_layer.one().dims()[1] == extent{64});
  }
}

}  // namespace troupe::test
