// One of several alternatives, such as update rules, by a key that names it.
#pragma once

#include "cli/configuration/has_field.hpp"
#include "cli/configuration/joined.hpp"
#include "cli/configuration/settings.hpp"

#include <fmt/format.h>

#include <variant>

namespace troupe::cli {

/// Calls f(option) for each alternative with its defaults.
template <class F, class... Options>
void each_alternative(const std::variant<Options...>&, F f) {
  (f(Options{}), ...);
}

/// The names of the alternatives that have a field.
template <class Variant>
std::vector<std::string> owners_of(const Variant& all, std::string_view field) {
  std::vector<std::string> owners;
  each_alternative(all, [&](const auto& o) {
    if (has_field(o, field))
      owners.emplace_back(name_of(o));
  });
  return owners;
}

/// The alternative that the key `at` + `choice` names, or `standard` if it names none; its fields are read below `at`.
/// A field of another alternative is an error, unless the choice was made with higher precedence, or the field is
/// `shared` with the struct that contains the alternatives.
template <class Variant>
expected<Variant> choose(const settings& given, const std::string& at, const std::string& choice,
                         const Variant& standard, std::string_view shared = "") {
  const std::string key = at + choice;
  const auto named = given.text(key);
  const std::string name = named.value_or(std::string{std::visit([](const auto& o) { return name_of(o); }, standard)});
  const auto chosen_at = given.precedence_of(key).value_or(precedence::file);
  Variant chosen = standard;
  if (named)
    each_alternative(chosen, [&](auto o) {
      if (name_of(o) == name)
        chosen = std::move(o);
    });
  std::visit([&](auto& o) { given.read_fields(at, o); }, chosen);
  expected<Variant> result = chosen;
  each_alternative(chosen, [&](const auto& other) {
    each_field(other, [&](const field_row& row, const auto&) {
      const std::string_view field = row.name;
      const auto full = fmt::format("{}{}", at, field);
      const bool own = std::visit([field](const auto& o) { return has_field(o, field); }, chosen);
      if (own || !result || field == shared || !given.has(full) || *given.precedence_of(full) < chosen_at)
        return;
      result = fail(errc::invalid_argument, fmt::format("{}{} belongs to {}, and {} is {}", given.origin(full), full,
                                                        joined(owners_of(chosen, field), ", "), key, name));
    });
  });
  return result;
}

}  // namespace troupe::cli
