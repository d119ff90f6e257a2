#include "cli/configuration/model_setup.hpp"

#include "cli/configuration/layer_setup.hpp"
#include "cli/configuration/optimizer_setup.hpp"

#include <fmt/format.h>

namespace troupe::cli {

namespace {

constexpr const char* dense = "dnn_classifier";
constexpr const char* sequential = "sequential_classifier";

tl::unexpected<error> missing(std::string_view key, std::string_view hint) {
  return fail(errc::invalid_argument, fmt::format("{} is missing: {}", key, hint));
}

/// A key of the other type is an error, unless the type was chosen with higher precedence.
expected<void> check_keys(const settings& given, std::string_view type) {
  const auto at = given.precedence_of("model.type").value_or(precedence::file);
  const auto misplaced = [&](std::string_view key, std::string_view owner) { return owner != type && given.has(key) && *given.precedence_of(key) >= at; };
  const auto refuse = [&](std::string_view key, std::string_view owner) {
    return fail(errc::invalid_argument, fmt::format("{}{} belongs to {}, and model.type is {}", given.origin(key), key, owner, type));
  };
  for (const auto& [key, owner] : {std::pair{"model.hidden_units", dense}, {"model.activation", dense}, {"model.dropout", dense}, {"model.batch_norm", dense},
                                   {"model.input_shape", sequential}})
    if (misplaced(key, owner))
      return refuse(key, owner);
  for (const auto& key : given.keys_of_list("model.layers"))
    if (misplaced(key, sequential))
      return refuse(key, sequential);
  return {};
}

}  // namespace

expected<model> make_model(const settings& given) {
  const std::string type = given.text("model.type").value_or(dense);
  if (auto right = check_keys(given, type); !right)
    return fail(right.error());
  if (type == dense && !given.has("model.hidden_units"))
    return missing("model.hidden_units", "give a --config with [model] hidden_units = [256, 128], or --set model.hidden_units=256,128");
  if (type == sequential && given.size_of_list("model.layers") == 0)
    return missing("model.layers", "give a --config with [model] layers = [{type = \"flatten\"}, {type = \"dense\", units = 128, activation = \"relu\"}]");
  const auto vocabulary = given.texts("model.vocabulary");
  const int64_t classes = given.integer("model.classes").value_or(0);
  if (classes == 0 && vocabulary.empty())
    return missing("model.classes", "give a --config with [model] classes = 10, or --set model.classes=10");
  const double label_smoothing = given.number("model.label_smoothing").value_or(0);
  auto made = make_optimizer(given);
  if (!made)
    return fail(made.error());
  if (type == dense)
    return dnn_classifier({.hidden_units = given.integers("model.hidden_units"), .classes = classes, .optimizer = *made,
                           .activation = activation_named(given.text("model.activation").value_or("relu")),
                           .dropout = given.number("model.dropout").value_or(0), .batch_norm = given.boolean("model.batch_norm").value_or(false),
                           .label_smoothing = label_smoothing, .vocabulary = vocabulary});
  auto layers = make_layers(given);
  if (!layers)
    return fail(layers.error());
  return sequential_classifier({.layers = std::move(*layers), .classes = classes, .input_shape = given.integers("model.input_shape"),
                                .optimizer = *made, .vocabulary = vocabulary, .label_smoothing = label_smoothing, .places = places_of_layers(given)});
}

}  // namespace troupe::cli
