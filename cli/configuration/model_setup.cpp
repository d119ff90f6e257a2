#include "cli/configuration/model_setup.hpp"

#include "cli/configuration/layer_setup.hpp"
#include "cli/configuration/model_fields.hpp"
#include "cli/configuration/optimizer_setup.hpp"

#include <fmt/format.h>

namespace troupe::cli {

namespace {

constexpr std::string_view dense = option_fields<dnn_classifier_options>::name;
constexpr std::string_view sequential = option_fields<sequential_classifier_options>::name;

tl::unexpected<error> missing(std::string_view key, std::string_view hint) {
  return fail(errc::invalid_argument, fmt::format("{} is missing: {}", key, hint));
}

template <class Options>
expected<void> check_classes(const Options& options) {
  if (options.classes == 0 && options.vocabulary.empty())
    return missing("model.classes", "give a --config with [model] classes = 10, or --set model.classes=10");
  return {};
}

/// A key that only the other type has is an error, unless the type was chosen with higher precedence.
template <class Own, class Other>
expected<void> check_keys(const settings& given, const Own& own, const Other& other) {
  const auto at = given.precedence_of("model.type").value_or(precedence::file);
  expected<void> right;
  const auto check = [&](const std::string& key) {
    if (right && given.has(key) && *given.precedence_of(key) >= at)
      right = fail(errc::invalid_argument, fmt::format("{}{} belongs to {}, and model.type is {}", given.origin(key), key, name_of(other), name_of(own)));
  };
  each_field(other, [&](const field_row& field, const auto&) {
    bool shared = false;
    each_field(own, [&](const field_row& mine, const auto&) { shared = shared || mine.name == field.name; });
    if (!shared)
      check(fmt::format("model.{}", field.name));
  });
  if (name_of(own) == dense)
    for (const auto& key : given.keys_of_list("model.layers"))
      check(key);
  return right;
}

expected<model> make_dense(const settings& given) {
  dnn_classifier_options options;
  if (auto right = check_keys(given, options, sequential_classifier_options{}); !right)
    return fail(right.error());
  if (!given.has("model.hidden_units"))
    return missing("model.hidden_units", "give a --config with [model] hidden_units = [256, 128], or --set model.hidden_units=256,128");
  given.read_fields("model.", options);
  return check_classes(options).and_then([&] { return make_optimizer(given); }).map([&](const optimizer& made) {
    options.optimizer = made;
    return dnn_classifier(options);
  });
}

expected<model> make_sequential(const settings& given) {
  sequential_classifier_options options;
  if (auto right = check_keys(given, options, dnn_classifier_options{}); !right)
    return fail(right.error());
  if (given.size_of_list("model.layers") == 0)
    return missing("model.layers", "give a --config with [model] layers = [{type = \"flatten\"}, {type = \"dense\", units = 128, activation = \"relu\"}]");
  given.read_fields("model.", options);
  options.places = places_of_layers(given);
  auto made = check_classes(options).and_then([&] { return make_optimizer(given); });
  if (!made)
    return fail(made.error());
  options.optimizer = *made;
  return make_layers(given).map([&](std::vector<sequential_layer> layers) {
    options.layers = std::move(layers);
    return sequential_classifier(options);
  });
}

}  // namespace

expected<model> make_model(const settings& given) {
  return given.text("model.type").value_or(std::string{dense}) == sequential ? make_sequential(given) : make_dense(given);
}

}  // namespace troupe::cli
