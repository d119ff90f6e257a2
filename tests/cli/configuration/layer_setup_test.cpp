#include "cli/configuration/layer_setup.hpp"

#include "cli/configuration/config_file.hpp"
#include "cli/configuration/model_fields.hpp"
#include "cli/configuration/model_setup.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <set>
#include <sstream>

namespace troupe::cli {

using test::has;

namespace {

expected<settings> merged(const std::string& text, std::initializer_list<const char*> more = {}) {
  std::istringstream stream{text};
  const auto file = parse_config(stream, "my.toml");
  REQUIRE(file);
  std::vector<assignment> set;
  for (const auto* key : more)
    set.push_back(*parse_assignment(key));
  return settings::merge(*file, set, {});
}

std::vector<sequential_layer> layers(const std::string& text, std::initializer_list<const char*> more = {}) {
  const auto made = merged(text, more).and_then([](const settings& s) { return make_layers(s); });
  REQUIRE_MESSAGE(made, (made ? "" : made.error().message));
  return *made;
}

/// The error for a model with these lines. The first of them is line 3 of the file.
std::string trouble(const std::string& text, std::initializer_list<const char*> more = {}) {
  const auto made = merged("[model]\nclasses = 2\n" + text, more).and_then([](const settings& s) {
    return make_model(s);
  });
  REQUIRE_FALSE(made);
  CHECK(made.error().category == errc::invalid_argument);
  return made.error().message;
}

std::string sequence(const std::string& layer, std::initializer_list<const char*> more = {}) {
  return trouble("type = \"sequential_classifier\"\nlayers = [{type = \"flatten\"},\n" + layer + "]\n", more);
}

}  // namespace

TEST_CASE("5,000 layers in a file are read, and a key that none of them has is found among them") {
  std::string text = "[model]\ntype = \"sequential_classifier\"\nclasses = 2\n";
  for (int i = 0; i < 5000; ++i)
    text += "[[model.layers]]\ntype = \"dense\"\nunits = " + std::to_string(i + 1) + "\n";
  const auto all = layers(text);
  REQUIRE(all.size() == 5000);
  CHECK(std::get<layer::dense>(all[4999]).units == 5000);
  const auto wrong = merged(text, {"model.layers[4999].filters=3"}).and_then([](const settings& s) {
    return make_layers(s);
  });
  REQUIRE_FALSE(wrong);
  CHECK(has(wrong.error().message, "model.layers[4999].filters belongs to"));
}

TEST_CASE("layers are read in their order with what was given, the rest as nn.hpp has it, inline or under headings") {
  const auto inlined = layers(
      "[model]\nlayers = [\n {type = \"conv2d\", filters = 8, kernel_size = [3, 5], strides = 2, padding = \"same\", "
      "groups = 2, "
      "activation = \"relu\", bias = false, kernel_initializer = \"he_normal\", name = \"c\"},\n"
      " {type = \"max_pool\"}, {type = \"dropout\", rate = 0.25}, {type = \"layer_norm\", axes = 2}, {type = "
      "\"flatten\"}]\n");
  REQUIRE(inlined.size() == 5);
  const auto& c = std::get<layer::conv2d>(inlined[0]);
  CHECK(c.filters == 8);
  CHECK((c.kernel_size == std::array<int64_t, 2>{3, 5}));
  CHECK((c.strides == std::array<int64_t, 2>{2, 2}));
  CHECK((c.dilation == std::array<int64_t, 2>{1, 1}));
  CHECK(c.padding == padding::same);
  CHECK(c.groups == 2);
  CHECK((c.activation == activation{relu}));
  CHECK_FALSE(c.bias);
  CHECK(c.kernel.what == initializer::kind::he_normal);
  CHECK(c.name == "c");
  CHECK((std::get<layer::max_pool>(inlined[1]).size == std::array<int64_t, 2>{2, 2}));
  CHECK(std::get<layer::dropout>(inlined[2]).rate == 0.25);
  CHECK(std::get<layer::layer_norm>(inlined[3]).axes == 2);
  CHECK(std::holds_alternative<layer::flatten>(inlined[4]));

  const auto headed = layers(
      "[[model.layers]]\ntype = \"conv2d\"\nfilters = 4\nkernel_size = 3\n[[model.layers]]\ntype = \"activation\"\n");
  REQUIRE(headed.size() == 2);
  CHECK((std::get<layer::conv2d>(headed[0]).kernel_size == std::array<int64_t, 2>{3, 3}));
  CHECK(std::get<layer::conv2d>(headed[0]).padding == padding::valid);
  CHECK((std::get<layer::activation>(headed[1]).function == activation{relu}));
}

TEST_CASE("the eleventh layer follows the tenth, and --set reaches any of them") {
  std::string text = "[model]\n";
  for (int i = 0; i < 12; ++i)
    text += "[[model.layers]]\ntype = \"dense\"\nunits = " + std::to_string(i + 1) + "\n";
  const auto all = layers(text, {"model.layers[3].units=99", "layers[11].type=dropout", "layers[11].rate=0.75"});
  REQUIRE(all.size() == 12);
  CHECK(std::get<layer::dense>(all[2]).units == 3);
  CHECK(std::get<layer::dense>(all[3]).units == 99);
  CHECK(std::get<layer::dense>(all[10]).units == 11);
  // The new type drops the units that the file sets.
  CHECK(std::get<layer::dropout>(all[11]).rate == 0.75);
}

TEST_CASE("every type and activation that can be named is there, and every type there is can be named") {
  const auto& types = find_key("model.layers[0].type")->choices;
  REQUIRE(types.size() == std::variant_size_v<sequential_layer>);
  for (const auto& type : types) {
    const bool convolution = type.find("conv2d") != std::string::npos;
    const auto made = layers("[[model.layers]]\ntype = \"" + type + "\"\n" + (convolution ? "kernel_size = 1\n" : "")
                             + (convolution && type != "depthwise_conv2d" ? "filters = 1\n" : "")
                             + (type == "dense" ? "units = 1\n" : ""));
    REQUIRE(made.size() == 1);
    CHECK(name_of(made[0]) == type);
  }
  std::set<activation> functions;
  for (const auto& name : find_key("model.activation")->choices) {
    activation function = nullptr;
    REQUIRE_MESSAGE(parse_option(name, function), name);
    CHECK_MESSAGE(functions.insert(function).second, name);
  }
  CHECK(functions.contains(nullptr));
}

TEST_CASE(
    "a list of more layers or heads than a model can have is refused with its place and the limit, before any is "
    "made") {
  std::string tables, units = "4", heads;
  for (int i = 0; i < 50'000; ++i) {
    tables += "[[model.layers]]\ntype = \"dense\"\nunits = 1\n";
    heads += "[[head.heads]]\nname = \"h\"\ntype = \"binary_head\"\n";
    units += ",4,4,4,4,4,4";
  }
  CHECK(trouble("type = \"sequential_classifier\"\n" + tables)
        == "my.toml:5: model.layers can have 5000 layers, not 50000");
  CHECK(trouble("hidden_units = [" + units + "]\n")
        == "my.toml:3: model.hidden_units can have 5000 layers, not 300001");
  const auto given = merged("[model]\ntype = \"linear_model\"\n[head]\ntype = \"multi_head\"\n" + heads);
  const auto made = given.and_then([](const settings& s) { return make_model(s); });
  REQUIRE_FALSE(made);
  CHECK(made.error().message == "my.toml:6: head.heads can have 5000 heads, not 50000");
}

TEST_CASE("a wrong key, type or value of a layer is told with its line, its number and what would be right") {
  CHECK(sequence("{type = \"convolution\"}")
            .starts_with("my.toml:5: model.layers[1].type must be one of conv2d, conv2d_transpose, "));
  CHECK(sequence("{type = \"dense\", unit = 3}")
        == "my.toml:5: unknown key model.layers[1].unit; did you mean model.layers[1].units?");
  CHECK(sequence("{type = \"dense\", units = 0}")
        == "my.toml:5: model.layers[1].units must be a whole number of at least 1, not 0");
  CHECK(sequence("{type = \"conv2d\", filters = 1, kernel_size = [1, 2, 3]}")
        == "my.toml:5: model.layers[1].kernel_size must be a whole number of at least 1, or two of them, such as "
           "[3, 5], not 1,2,3");
  CHECK(sequence("{type = \"conv2d\", filters = 1, kernel_size = []}").ends_with("such as [3, 5], not an empty list"));
  CHECK(sequence("{type = \"dropout\", rate = 1}")
        == "my.toml:5: model.layers[1].rate must be a number in [0, 1), not 1");
  CHECK(sequence("{type = \"conv2d\", filters = 1, kernel_size = 3, strides = 0}")
        == "my.toml:5: model.layers[1].strides must be at least 1, not 0");
  CHECK(sequence("{type = \"layer_norm\", axes = 4294967297}")
        == "my.toml:5: model.layers[1].axes must be a whole number in [1, 8], not 4294967297");
  CHECK(sequence("{type = \"max_pool\", padding = \"full\"}")
        == "my.toml:5: model.layers[1].padding must be one of valid, same, not 'full'");
  CHECK(sequence("{type = \"conv2d\", kernel_size = 3}")
        == "my.toml:5: model.layers[1].filters is missing: a layer of type conv2d needs it");
  CHECK(sequence("{type = \"max_pool\", filters = 3}")
        == "my.toml:5: model.layers[1].filters belongs to conv2d, conv2d_transpose, separable_conv2d, and "
           "model.layers[1].type is max_pool");
  CHECK(sequence("{units = 3}").starts_with("model.layers[1].type is missing: it must be one of conv2d, "));
  CHECK(sequence("{}").starts_with("my.toml:5: model.layers[1].type must be one of conv2d, "));
  CHECK(sequence("{type = \"flatten\"}", {"model.layers[4].rate=0.5"}).starts_with("model.layers[2].type is missing"));
  CHECK(sequence("{type = \"flatten\"}", {"model.layers[].rate=0.5"})
            .starts_with("--set: unknown key model.layers[].rate"));
  CHECK(sequence("{type = \"flatten\"}", {"model.layers[01].rate=0.5"})
            .starts_with("--set: unknown key model.layers[01].rate"));
  CHECK(trouble("type = \"sequential_classifier\"\nlayers = 3\n")
        == "my.toml:4: model.layers must be a list of tables, each begun by [[model.layers]], not 3");
  CHECK(trouble("type = \"sequential_classifier\"\nlayers = []\n").ends_with("not an empty list"));
}

TEST_CASE("what belongs to one type of model is refused in the other, unless a flag has put that one aside") {
  CHECK(trouble("type = \"sequential_classifier\"\n").starts_with("model.layers is missing: "));
  CHECK(trouble("hidden_units = [3]\nlayers = [{type = \"flatten\"}]\n")
        == "my.toml:4: model.layers[0].type belongs to sequential_classifier, sequential_model, and model.type is "
           "dnn_classifier");
  CHECK(trouble("hidden_units = [3]\ninput_shape = [3]\n")
        == "my.toml:4: model.input_shape belongs to sequential_classifier, sequential_model, and model.type is "
           "dnn_classifier");
  CHECK(trouble("type = \"sequential_classifier\"\ndropout = 0.5\nlayers = [{type = \"flatten\"}]\n")
        == "my.toml:4: model.dropout belongs to dnn_classifier, dnn_model, dnn_linear_combined_model, and "
           "model.type is sequential_classifier");
  CHECK(trouble("type = \"linear\"\n")
        == "my.toml:3: model.type must be one of dnn_classifier, sequential_classifier, dnn_model, linear_model, "
           "dnn_linear_combined_model, "
           "baseline_model, sequential_model, not 'linear'");
  const auto put_aside = merged("[model]\nclasses = 2\nhidden_units = [3]\nlayers = [{type = \"flatten\"}]\n",
                                {"model.type=sequential_classifier"});
  CHECK(make_model(*put_aside)->name == "sequential_classifier");
  CHECK(
      make_model(*merged("[model]\nclasses = 2\nhidden_units = [3]\nbatch_norm = true\nactivation = \"gelu\"\n"))->name
      == "dnn_classifier");
}

TEST_CASE("errors call a layer by its line and number") {
  const auto given = merged("[model]\nlayers = [{type = \"flatten\"},\n {type = \"dropout\"}]\n");
  CHECK(places_of_layers(*given)
        == std::vector<std::string>{"my.toml:2: model.layers[0]", "my.toml:3: model.layers[1]"});
}

}  // namespace troupe::cli
