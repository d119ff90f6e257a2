#include "cli/configuration/layer_setup.hpp"

#include "cli/configuration/joined.hpp"

#include <fmt/format.h>

#include <array>
#include <tuple>

namespace troupe::cli {

namespace {

// -- values by name -----------------------------------------------------------------

constexpr std::pair<std::string_view, activation> activations[] = {
    {"relu", relu}, {"elu", elu},           {"gelu", gelu},   {"gelu_tanh", gelu_tanh}, {"sigmoid", sigmoid},
    {"softplus", softplus}, {"swish", swish}, {"tanh", tanh}, {"none", nullptr}};

initializer initializer_named(std::string_view name) {
  static const std::pair<std::string_view, initializer> all[] = {
      {"glorot_uniform", init::glorot_uniform()}, {"glorot_normal", init::glorot_normal()}, {"he_uniform", init::he_uniform()},
      {"he_normal", init::he_normal()},           {"lecun_uniform", init::lecun_uniform()}, {"lecun_normal", init::lecun_normal()},
      {"orthogonal", init::orthogonal()},         {"zeros", init::zeros()}};
  for (const auto& [known, value] : all)
    if (known == name)
      return value;
  return {};  // The key has no other choice.
}

// -- fields by key ------------------------------------------------------------------

template <class Layer, class T>
struct field {
  std::string_view key;
  T Layer::* member;
  bool needed = false;
};
template <class Layer, class T>
field(const char*, T Layer::*) -> field<Layer, T>;
template <class Layer, class T>
field(const char*, T Layer::*, bool) -> field<Layer, T>;

template <class Layer>
struct fields {
  static constexpr std::tuple<> all{};
};

constexpr bool needed = true;
#define TROUPE_WINDOW(type)                                                                             \
  field{"kernel_size", &layer::type::kernel_size, needed}, field{"strides", &layer::type::strides}, \
      field{"padding", &layer::type::padding}
#define TROUPE_OUTPUT(type)                                                                                                        \
  field{"activation", &layer::type::activation}, field{"bias", &layer::type::bias}, field{"kernel_initializer", &layer::type::kernel}, \
      field{"name", &layer::type::name}

template <> struct fields<layer::conv2d> {
  static constexpr std::tuple all{field{"filters", &layer::conv2d::filters, needed}, TROUPE_WINDOW(conv2d), field{"dilation", &layer::conv2d::dilation},
                                  field{"groups", &layer::conv2d::groups}, TROUPE_OUTPUT(conv2d)};
};
template <> struct fields<layer::conv2d_transpose> {
  static constexpr std::tuple all{field{"filters", &layer::conv2d_transpose::filters, needed}, TROUPE_WINDOW(conv2d_transpose),
                                  TROUPE_OUTPUT(conv2d_transpose)};
};
template <> struct fields<layer::depthwise_conv2d> {
  static constexpr std::tuple all{TROUPE_WINDOW(depthwise_conv2d), field{"dilation", &layer::depthwise_conv2d::dilation},
                                  field{"depth_multiplier", &layer::depthwise_conv2d::depth_multiplier}, TROUPE_OUTPUT(depthwise_conv2d)};
};
template <> struct fields<layer::separable_conv2d> {
  static constexpr std::tuple all{field{"filters", &layer::separable_conv2d::filters, needed}, TROUPE_WINDOW(separable_conv2d),
                                  field{"dilation", &layer::separable_conv2d::dilation},
                                  field{"depth_multiplier", &layer::separable_conv2d::depth_multiplier}, TROUPE_OUTPUT(separable_conv2d)};
};
template <> struct fields<layer::max_pool> {
  static constexpr std::tuple all{field{"size", &layer::max_pool::size}, field{"strides", &layer::max_pool::strides},
                                  field{"padding", &layer::max_pool::padding}};
};
template <> struct fields<layer::average_pool> {
  static constexpr std::tuple all{field{"size", &layer::average_pool::size}, field{"strides", &layer::average_pool::strides},
                                  field{"padding", &layer::average_pool::padding}};
};
template <> struct fields<layer::dense> {
  static constexpr std::tuple all{field{"units", &layer::dense::units, needed}, TROUPE_OUTPUT(dense)};
};
template <> struct fields<layer::dropout> {
  static constexpr std::tuple all{field{"rate", &layer::dropout::rate}};
};
template <> struct fields<layer::batch_norm> {
  static constexpr std::tuple all{field{"momentum", &layer::batch_norm::momentum}, field{"epsilon", &layer::batch_norm::epsilon},
                                  field{"gamma", &layer::batch_norm::gamma}, field{"beta", &layer::batch_norm::beta}, field{"name", &layer::batch_norm::name}};
};
template <> struct fields<layer::layer_norm> {
  static constexpr std::tuple all{field{"axes", &layer::layer_norm::axes}, field{"epsilon", &layer::layer_norm::epsilon},
                                  field{"gamma", &layer::layer_norm::gamma}, field{"beta", &layer::layer_norm::beta}, field{"name", &layer::layer_norm::name}};
};
template <> struct fields<layer::activation> {
  static constexpr std::tuple all{field{"activation", &layer::activation::function}};
};
#undef TROUPE_WINDOW
#undef TROUPE_OUTPUT

template <class Layer, class F>
void each_field(const Layer&, F f) {
  std::apply([&](const auto&... one) { (f(one), ...); }, fields<Layer>::all);
}

// Replaces `into` by the given value; merge has checked that it fits.
void read(const settings& given, const std::string& key, int64_t& into) { into = *given.integer(key); }
void read(const settings& given, const std::string& key, int& into) { into = static_cast<int>(*given.integer(key)); }
void read(const settings& given, const std::string& key, double& into) { into = *given.number(key); }
void read(const settings& given, const std::string& key, bool& into) { into = *given.boolean(key); }
void read(const settings& given, const std::string& key, std::string& into) { into = *given.text(key); }
void read(const settings& given, const std::string& key, padding& into) { into = *given.text(key) == "same" ? padding::same : padding::valid; }
void read(const settings& given, const std::string& key, activation& into) { into = activation_named(*given.text(key)); }
void read(const settings& given, const std::string& key, initializer& into) { into = initializer_named(*given.text(key)); }
void read(const settings& given, const std::string& key, std::array<int64_t, 2>& into) {
  const auto extents = given.integers(key);
  into = {extents.front(), extents.back()};
}

// -- layers -------------------------------------------------------------------------

std::string key_of(int64_t i) { return fmt::format("model.layers[{}]", i); }
constexpr std::string_view list = "model.layers";

/// Calls f(layer) for a default layer of each type.
template <class F>
void each_type(F f) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    (f(std::variant_alternative_t<I, sequential_layer>{}), ...);
  }(std::make_index_sequence<std::variant_size_v<sequential_layer>>{});
}

std::vector<std::string> types_with(std::string_view key) {
  std::vector<std::string> types;
  each_type([&](const auto& l) {
    each_field(l, [&](const auto& f) {
      if (f.key == key)
        types.emplace_back(name_of(l));
    });
  });
  return types;
}

bool has(const sequential_layer& of, std::string_view key) {
  bool found = false;
  std::visit([&](const auto& l) { each_field(l, [&](const auto& f) { found = found || f.key == key; }); }, of);
  return found;
}

/// A key of another type is an error, unless the type was chosen with higher precedence.
expected<void> check_keys(const settings& given, const std::string& at, const sequential_layer& made) {
  const std::string type = at + ".type";
  for (const auto& key : given.keys_beginning(at + ".")) {
    if (key == type || *given.precedence_of(key) < *given.precedence_of(type))
      continue;
    const std::string suffix = key.substr(at.size() + 1);
    if (!has(made, suffix))
      return fail(errc::invalid_argument,
                  fmt::format("{}{} belongs to {}, and {} is {}", given.origin(key), key, joined(types_with(suffix), ", "), type, name_of(made)));
  }
  return {};
}

expected<sequential_layer> make_layer(const settings& given, const std::string& at) {
  const auto type = given.text(at + ".type");
  if (!type)
    return fail(errc::invalid_argument, fmt::format("{}.type is missing: it must be {}", at, fits(*find_key(at + ".type"))));
  expected<sequential_layer> made = sequential_layer{};
  each_type([&](auto l) {
    if (name_of(l) != *type)
      return;
    std::string missing;
    each_field(l, [&](const auto& f) {
      const auto key = fmt::format("{}.{}", at, f.key);
      if (given.has(key))
        read(given, key, l.*f.member);
      else if (f.needed && missing.empty())
        missing = key;
    });
    if (missing.empty())
      made = sequential_layer{std::move(l)};
    else
      made = fail(errc::invalid_argument, fmt::format("{}{} is missing: a layer of type {} needs it", given.origin(at + ".type"), missing, *type));
  });
  if (made)
    if (auto right = check_keys(given, at, *made); !right)
      return fail(right.error());
  return made;
}

}  // namespace

activation activation_named(std::string_view name) {
  for (const auto& [known, value] : activations)
    if (known == name)
      return value;
  return nullptr;
}

expected<std::vector<sequential_layer>> make_layers(const settings& given) {
  std::vector<sequential_layer> layers;
  const int64_t size = given.size_of_list(list);
  for (int64_t i = 0; i < size; ++i) {
    auto made = make_layer(given, key_of(i));
    if (!made)
      return fail(made.error());
    layers.push_back(std::move(*made));
  }
  return layers;
}

std::vector<std::string> places_of_layers(const settings& given) {
  std::vector<std::string> places;
  const int64_t size = given.size_of_list(list);
  for (int64_t i = 0; i < size; ++i)
    places.push_back(given.origin(key_of(i) + ".type") + key_of(i));
  return places;
}

}  // namespace troupe::cli
