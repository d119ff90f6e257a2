#include "cli/configuration/model_setup.hpp"

#include "cli/configuration/has_field.hpp"
#include "cli/configuration/head_setup.hpp"
#include "cli/configuration/joined.hpp"
#include "cli/configuration/layer_setup.hpp"
#include "cli/configuration/model_fields.hpp"
#include "cli/configuration/optimizer_setup.hpp"

#include <fmt/format.h>

namespace troupe::cli {

namespace {

template <class Options>
constexpr bool has_layers = requires(Options o) {
  o.layers;
};
template <class Options>
constexpr bool has_head = requires(Options o) {
  o.head;
};

/// The names of the types for which `fits` returns true.
template <class Fits, class... Options>
std::vector<std::string> types(const std::variant<Options...>&, Fits fits) {
  std::vector<std::string> names;
  const auto add = [&](const auto& o) {
    if (fits(o))
      names.emplace_back(name_of(o));
  };
  (add(Options{}), ...);
  return names;
}

/// A key that belongs only to other types is an error, unless the type was chosen with higher precedence.
template <class Own>
expected<void> check_keys(const settings& given, const Own& own) {
  const auto at = given.precedence_of("model.type").value_or(precedence::file);
  expected<void> right;
  const auto check = [&](const std::string& key, const std::vector<std::string>& owners) {
    if (right && *given.precedence_of(key) >= at)
      right = fail(errc::invalid_argument, fmt::format("{}{} belongs to {}, and model.type is {}", given.origin(key),
                                                       key, joined(owners, ", "), name_of(own)));
  };
  for (const auto& key : given.keys_beginning("model.")) {
    const std::string field = key.substr(6);
    if (key != "model.type" && !key.starts_with("model.layers[") && !has_field(own, field))
      check(key, types(model_choice{}, [&field](const auto& o) { return has_field(o, field); }));
  }
  if (!has_layers<Own>)
    for (const auto& key : given.keys_of_list("model.layers"))
      check(key, types(model_choice{}, []<class O>(const O&) { return has_layers<O>; }));
  if (!has_head<Own>)
    for (const auto& key : given.keys_beginning("head."))
      check(key, types(model_choice{}, []<class O>(const O&) { return has_head<O>; }));
  return right;
}

/// Checks the keys that this type of model needs.
template <class Options>
expected<void> check_needed(const settings& given, const Options& options) {
  if (has_field(options, "hidden_units") && !given.has("model.hidden_units"))
    return missing_key("model.hidden_units",
                       "give a --config with [model] hidden_units = [256, 128], or --set model.hidden_units=256,128");
  if (has_layers<Options> && given.size_of_list("model.layers") == 0)
    return missing_key("model.layers",
                       "give a --config with [model] layers = [{type = \"flatten\"}, {type = \"dense\", units = 128, "
                       "activation = \"relu\"}]");
  if constexpr (requires { options.classes; })
    if (options.classes == 0 && options.vocabulary.empty())
      return missing_key("model.classes", "give a --config with [model] classes = 10, or --set model.classes=10");
  if (has_head<Options> && !given.has("head.type"))
    return missing_key(
        "head.type",
        fmt::format("a {} takes any head: give [head] type = \"multi_class_head\" and classes = 10, or another",
                    name_of(options)));
  return {};
}

// A configuration has no lines of source; without a place, errors show none.
model built(dnn_classifier_options o) { return dnn_classifier(std::move(o), {}); }
model built(sequential_classifier_options o) { return sequential_classifier(std::move(o), {}); }
model built(dnn_model_options o) { return dnn_model(std::move(o), {}); }
model built(linear_model_options o) { return linear_model(std::move(o), {}); }
model built(dnn_linear_combined_model_options o) { return dnn_linear_combined_model(std::move(o), {}); }
model built(baseline_model_options o) { return baseline_model(std::move(o), {}); }
model built(sequential_model_options o) { return sequential_model(std::move(o), {}); }

template <class Options>
expected<model> make(const settings& given, Options options) {
  if (auto right = check_keys(given, options); !right)
    return fail(right.error());
  given.read_fields("model.", options);
  if (auto right = check_needed(given, options); !right)
    return fail(right.error());
  if constexpr (requires { options.hidden_units; })
    if (options.hidden_units.size() > listed_max)
      return too_many(given, "model.hidden_units", "layers", std::ssize(options.hidden_units));
  auto by = make_optimizer(given, options.optimizer);
  if (!by)
    return fail(by.error());
  options.optimizer = std::move(*by);
  if constexpr (has_head<Options>) {
    auto made = make_head(given);
    if (!made)
      return fail(made.error());
    options.head = std::move(*made);
  }
  if constexpr (has_layers<Options>) {
    auto made = make_layers(given);
    if (!made)
      return fail(made.error());
    options.layers = std::move(*made);
    options.places = places_of_layers(given);
  }
  return built(std::move(options));
}

template <class... Options>
expected<model> make_of_type(const settings& given, const std::string& type, const std::variant<Options...>&) {
  expected<model> made = model{};
  const auto try_type = [&](auto options) {
    if (name_of(options) == type)
      made = make(given, std::move(options));
  };
  (try_type(Options{}), ...);
  return made;
}

}  // namespace

tl::unexpected<error> too_many(const settings& given, std::string_view list, std::string_view what, int64_t count) {
  const auto listed = given.keys_of_list(list);
  const auto origin = given.origin(listed.empty() ? list : listed.front());
  return fail(errc::invalid_argument,
              fmt::format("{}{} can have {} {}, not {}", origin, list, listed_max, what, count));
}

expected<model> make_model(const settings& given) {
  return make_of_type(given, given.text("model.type").value_or(std::string{name_of(dnn_classifier_options{})}),
                      model_choice{});
}

}  // namespace troupe::cli
