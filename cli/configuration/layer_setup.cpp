#include "cli/configuration/layer_setup.hpp"

#include "cli/configuration/joined.hpp"
#include "cli/configuration/model_fields.hpp"
#include "cli/configuration/model_setup.hpp"

#include <fmt/format.h>

namespace troupe::cli {

namespace {

// -- layers -------------------------------------------------------------------------

std::string key_of(std::string_view list, int64_t i) { return fmt::format("{}[{}]", list, i); }

/// Calls f(layer) for each type of layer with its defaults.
template <class F>
void each_type(F f) {
  [&]<size_t... I>(std::index_sequence<I...>) { (f(std::variant_alternative_t<I, sequential_layer>{}), ...); }
  (std::make_index_sequence<std::variant_size_v<sequential_layer>>{});
}

std::vector<std::string> types_with(std::string_view key) {
  std::vector<std::string> types;
  each_type([&](const auto& l) {
    each_field(l, [&](const field_row& f, const auto&) {
      if (f.name == key)
        types.emplace_back(name_of(l));
    });
  });
  return types;
}

bool has(const sequential_layer& of, std::string_view key) {
  bool found = false;
  std::visit(
      [&](const auto& l) { each_field(l, [&](const field_row& f, const auto&) { found = found || f.name == key; }); },
      of);
  return found;
}

/// A key of another type of layer is an error, unless the type was chosen with higher precedence.
expected<void> check_keys(const settings& given, const std::string& at, const sequential_layer& made) {
  const std::string type = at + ".type";
  for (const auto& key : given.keys_beginning(at + ".")) {
    if (key == type || *given.precedence_of(key) < *given.precedence_of(type))
      continue;
    const std::string suffix = key.substr(at.size() + 1);
    if (!has(made, suffix))
      return fail(errc::invalid_argument, fmt::format("{}{} belongs to {}, and {} is {}", given.origin(key), key,
                                                      joined(types_with(suffix), ", "), type, name_of(made)));
  }
  return {};
}

/// Reads a field of the layer at `at` if it was given. A field whose default lies outside of its range is required.
template <class T>
[[gnu::noinline]] expected<void> read_field(const settings& given, const std::string& at, const std::string& type,
                                            const field_row& row, T& value) {
  const auto key = fmt::format("{}.{}", at, row.name);
  const bool has = given.read(key, value);
  auto right = check_option(key, value, row.range);
  if (!right)
    right.error().message = has ? given.origin(key) + right.error().message
                                : fmt::format("{}{} is missing: a layer of type {} needs it",
                                              given.origin(at + ".type"), key, type);
  return right;
}

expected<sequential_layer> make_layer(const settings& given, const std::string& at) {
  const auto type = given.text(at + ".type");
  if (!type)
    return fail(errc::invalid_argument,
                fmt::format("{}.type is missing: it must be {}", at, fits(*find_key(at + ".type"))));
  expected<sequential_layer> made = sequential_layer{};
  each_type([&](auto l) {
    if (name_of(l) != *type)
      return;
    expected<void> right;
    each_field(l, [&](const field_row& f, auto& value) {
      if (right)
        right = read_field(given, at, *type, f, value);
    });
    made = right.map([&l] { return sequential_layer{std::move(l)}; });
  });
  if (made)
    if (auto right = check_keys(given, at, *made); !right)
      return fail(right.error());
  return made;
}

}  // namespace

expected<std::vector<sequential_layer>> make_layers(const settings& given, std::string_view list) {
  std::vector<sequential_layer> layers;
  const int64_t size = given.size_of_list(list);
  if (size > static_cast<int64_t>(listed_max))
    return too_many(given, list, "layers", size);
  for (int64_t i = 0; i < size; ++i) {
    auto made = make_layer(given, key_of(list, i));
    if (!made)
      return fail(made.error());
    layers.push_back(std::move(*made));
  }
  return layers;
}

std::vector<std::string> places_of_layers(const settings& given, std::string_view list) {
  std::vector<std::string> places;
  const int64_t size = given.size_of_list(list);
  for (int64_t i = 0; i < size; ++i)
    places.push_back(given.origin(key_of(list, i) + ".type") + key_of(list, i));
  return places;
}

}  // namespace troupe::cli
