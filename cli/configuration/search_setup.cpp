#include "cli/configuration/search_setup.hpp"

#include "cli/configuration/choose.hpp"
#include "cli/configuration/head_setup.hpp"
#include "cli/configuration/layer_setup.hpp"
#include "cli/configuration/model_setup.hpp"
#include "cli/configuration/optimizer_setup.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace troupe::cli {

namespace {

constexpr std::string_view in_search = "search.", generator_at = "search.generator.", builders_key = "search.builders",
                           ensemblers_key = "search.ensemblers";

expected<void> refuse(const settings& given, const std::string& key, const std::string& why) {
  return fail(errc::invalid_argument, fmt::format("{}{}{}", given.origin(key), key, why));
}

/// Keys of a training have no place in a search.
expected<void> check_tables(const settings& given) {
  for (const auto& [table, why] :
       {std::pair{"model.",
                  " belongs to troupe train: the networks of a search are those of [search.generator] or "
                  "[[search.builders]]"},
        {"optimizer.",
         " belongs to troupe train: a search has [search.generator.optimizer], or an optimizer in each of "
         "[[search.builders]], and one in each of [[search.ensemblers]]"},
        {"warm_start.", " belongs to troupe train: a search begins with initial values"}})
    if (const auto keys = given.keys_beginning(table); !keys.empty())
      return refuse(given, keys.front(), why);
  return {};
}

/// An error if a table of the list has the name of one before it.
expected<void> check_names(const settings& given, std::string_view list, const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i)
    if (const auto same = std::find(names.begin(), names.end(), names[i]) - names.begin();
        same < static_cast<std::ptrdiff_t>(i)) {
      const auto key = fmt::format("{}[{}].name", list, i);
      const auto keys = given.keys_beginning(fmt::format("{}[{}].", list, i));
      return fail(errc::invalid_argument, fmt::format("{}{} must differ from {}[{}].name: both are '{}'",
                                                      given.origin(given.has(key) || keys.empty() ? key : keys.front()),
                                                      key, list, same, names[i]));
    }
  return {};
}

// -- networks ----------------------------------------------------------------------

generator generator_of(generators::simple_dnn_options o) { return generators::simple_dnn(std::move(o)); }
generator generator_of(generators::simple_cnn_options o) { return generators::simple_cnn(std::move(o)); }
generator generator_of(generators::linear_options o) { return generators::linear(std::move(o)); }

expected<generator> make_generator(const settings& given) {
  const std::string at{generator_at}, kind = at + "kind";
  if (!given.has(kind))
    return fail(errc::invalid_argument,
                fmt::format("{}{} is missing: it must be {}", given.origin(given.keys_beginning(at).front()), kind,
                            fits(*find_key(kind))));
  auto chosen = choose(given, at, "kind", generator_choice{});
  if (!chosen)
    return fail(std::move(chosen.error()));
  auto by = make_optimizer(given, {}, at + "optimizer.");
  if (!by)
    return fail(std::move(by.error()));
  return std::visit(
      [&](auto o) {
        o.optimizer = std::move(*by);
        return generator_of(std::move(o));
      },
      std::move(*chosen));
}

/// The subnetwork of a builder of a file: its layers, then a dense layer to the logits.
subnetwork build_layers(graph& g, const build_context& c, const sequential_layers_options& o, double complexity) {
  const symbol last = sequential_layers(g, c.features, o, c.mode);
  if (!last.valid())
    return {.last_layer = last, .logits = last, .complexity = complexity};
  const symbol flat = nn::flatten(last);
  return {.last_layer = flat,
          .logits = nn::dense(flat, {.units = c.logits_dimension, .name = "logits"}),
          .complexity = complexity};
}

expected<builder> make_builder(const settings& given, const std::string& at) {
  builder_options o;
  given.read_fields(at + ".", o);
  for (const char* field : {"name", "complexity"})
    if (const auto key = fmt::format("{}.{}", at, field); !given.has(key))
      return fail(errc::invalid_argument,
                  fmt::format("{}{} is missing: it must be {}", given.origin(given.keys_beginning(at + ".").front()),
                              key, fits(*find_key(key))));
  const auto list = at + ".layers";
  auto layers = make_layers(given, list);
  if (!layers)
    return fail(std::move(layers.error()));
  auto by = make_optimizer(given, {}, at + ".optimizer.");
  if (!by)
    return fail(std::move(by.error()));
  sequential_layers_options parts{std::move(*layers), o.input_shape, "the builder '" + o.name + "'",
                                  places_of_layers(given, list)};
  return builder{.name = o.name,
                 .build = [parts = std::move(parts), complexity = o.complexity](
                              graph& g, const build_context& c) { return build_layers(g, c, parts, complexity); },
                 .optimizer = std::move(*by),
                 .steps_max = o.steps_max};
}

expected<std::vector<builder>> make_builders(const settings& given) {
  const int64_t size = given.size_of_list(builders_key);
  if (size > static_cast<int64_t>(listed_max))
    return too_many(given, builders_key, "builders", size);
  std::vector<builder> made;
  std::vector<std::string> names;
  for (int64_t i = 0; i < size; ++i) {
    const auto at = fmt::format("{}[{}]", builders_key, i);
    if (given.keys_beginning(at + ".").empty())
      return fail(errc::invalid_argument, fmt::format("{} is missing: the list has {} elements", at, size));
    auto one = make_builder(given, at);
    if (!one)
      return fail(std::move(one.error()));
    names.push_back(one->name);
    made.push_back(std::move(*one));
  }
  if (auto right = check_names(given, builders_key, names); !right)
    return fail(std::move(right.error()));
  return made;
}

/// Sets the generator, from either table. Returns whether each network has a limit of its own steps.
expected<bool> add_networks(const settings& given, search_options& to) {
  const auto listed = given.keys_of_list(builders_key), generated = given.keys_beginning(generator_at);
  if (listed.empty() && generated.empty())
    return missing_key("search.generator.kind",
                       "nothing says which networks are searched; give [search.generator] kind = \"simple_dnn\", or a "
                       "list of [[search.builders]]");
  if (!listed.empty() && !generated.empty())
    return fail(errc::invalid_argument,
                fmt::format("{}{} and {} cannot both be given: a search has a generator or a list of builders",
                            given.origin(listed.front()), listed.front(), generated.front()));
  if (listed.empty()) {
    auto made = make_generator(given);
    if (!made)
      return fail(std::move(made.error()));
    to.subnetwork_generator = std::move(*made);
    return false;
  }
  auto made = make_builders(given);
  if (!made)
    return fail(std::move(made.error()));
  const bool limited = std::all_of(made->begin(), made->end(),
                                   [](const builder& b) { return b.steps_max.has_value(); });
  to.subnetwork_generator = generators::list(std::move(*made));
  return limited;
}

// -- ensembles ---------------------------------------------------------------------

expected<ensembler> make_ensembler(const settings& given, const std::string& at) {
  const auto chosen = choose(given, at + ".", "kind", ensembler_choice{});
  if (!chosen)
    return fail(chosen.error());
  const auto optimizer_at = at + ".optimizer.";
  const auto trained = given.keys_beginning(optimizer_at);
  if (const auto* mean = std::get_if<mean_options>(&*chosen)) {
    const auto kind_at = given.precedence_of(at + ".kind").value_or(precedence::file);
    for (const auto& key : trained)
      if (*given.precedence_of(key) >= kind_at)
        return fail(errc::invalid_argument, fmt::format("{}{} belongs to complexity_regularized, and {}.kind is mean",
                                                        given.origin(key), key, at));
    return mean->ensembler;
  }
  auto [made, initial] = std::get<regularized_options>(*chosen);
  made.mixture_weight_initializer = initial;
  if (trained.empty())
    return made;
  auto by = make_optimizer(given, {}, optimizer_at);
  if (!by)
    return fail(std::move(by.error()));
  made.optimizer = std::move(*by);
  return made;
}

expected<void> add_ensemblers(const settings& given, search_options& to) {
  const int64_t size = given.size_of_list(ensemblers_key);
  if (size == 0)
    return {};
  if (size > static_cast<int64_t>(listed_max))
    return too_many(given, ensemblers_key, "ensemblers", size);
  to.ensemblers.clear();
  std::vector<std::string> names;
  for (int64_t i = 0; i < size; ++i) {
    auto one = make_ensembler(given, fmt::format("{}[{}]", ensemblers_key, i));
    if (!one)
      return fail(std::move(one.error()));
    names.push_back(name_of(*one));
    to.ensemblers.push_back(std::move(*one));
  }
  return check_names(given, ensemblers_key, names);
}

expected<void> add_strategies(const settings& given, search_options& to) {
  strategy_options o;
  given.read_fields(std::string{in_search}, o);
  to.ensemble_strategies.clear();
  for (size_t i = 0; i < o.strategies.size(); ++i) {
    const auto one = o.strategies[i];
    if (std::count(o.strategies.begin(), o.strategies.begin() + static_cast<std::ptrdiff_t>(i), one) > 0)
      return refuse(given, "search.strategies", fmt::format(" has '{}' twice", option_text(one)));
    to.ensemble_strategies.push_back(one == named_strategy::grow   ? strategy::grow()
                                     : one == named_strategy::solo ? strategy::solo()
                                                                   : strategy::all());
  }
  return {};
}

expected<void> add_head(const settings& given, search_options& to) {
  if (!given.has("head.type"))
    return missing_key("head.type",
                       "a search takes any head: give [head] type = \"multi_class_head\" and classes = 10, or another");
  return make_head(given).map([&](head made) { to.head = std::move(made); });
}

}  // namespace

bool is_search(const settings& given) { return !given.keys_beginning(in_search).empty(); }

expected<search_setup> make_search(const settings& given) {
  search_setup made;
  auto& o = made.options;
  if (auto right = check_tables(given); !right)
    return fail(std::move(right.error()));
  given.read_fields(std::string{in_search}, o);
  const auto limited = add_networks(given, o);
  if (!limited)
    return fail(limited.error());
  auto right = add_head(given, o)
                   .and_then([&] { return add_ensemblers(given, o); })
                   .and_then([&] { return add_strategies(given, o); })
                   .and_then([&] { return choose(given, "search.choose.", "by", choose_choice{}); })
                   .map([&](const choose_choice& chosen) {
                     if (const auto* by = std::get_if<choose_by_evaluation>(&chosen))
                       made.evaluation = *by;
                   })
                   .and_then([&] { return validate(o); });
  if (!right)
    return fail(std::move(right.error()));
  made.ends = o.max_iterations && (o.max_iteration_steps || *limited);
  return made;
}

}  // namespace troupe::cli
