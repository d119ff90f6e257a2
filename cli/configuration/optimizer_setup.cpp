#include "cli/configuration/optimizer_setup.hpp"

#include "cli/configuration/has_field.hpp"
#include "cli/configuration/joined.hpp"

#include <troupe/options/optimizer_fields.hpp>

#include <fmt/format.h>

namespace troupe::cli {

namespace {

/// Calls f(option) for each alternative with its defaults.
template <class F, class... Options>
void each_alternative(const std::variant<Options...>&, F f) {
  (f(Options{}), ...);
}

/// The alternative that the key `at` + `choice` names, or `standard` if it names none; its fields are read below `at`.
/// A field of another alternative is an error, unless the choice was made with higher precedence.
template <class Variant>
expected<Variant> choose(const settings& given, const std::string& at, const std::string& choice,
                         const Variant& standard) {
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
      if (own || !result || field == "weight_decay" || !given.has(full) || *given.precedence_of(full) < chosen_at)
        return;
      std::vector<std::string> owners;
      each_alternative(chosen, [&](const auto& o) {
        if (has_field(o, field))
          owners.emplace_back(name_of(o));
      });
      result = fail(errc::invalid_argument, fmt::format("{}{} belongs to {}, and {} is {}", given.origin(full), full,
                                                        joined(owners, ", "), key, name));
    });
  });
  return result;
}

/// The first key of the group at `at` that is a field of update rules only.
std::optional<std::string> field_of_a_rule(const settings& given, const std::string& at) {
  for (const auto& key : given.keys_beginning(at + "."))
    if (!has_field(variable_group{}, key.substr(at.size() + 1)))
      return key;
  return {};
}

/// Makes group `i` of [[optimizer.groups]].
expected<variable_group> make_group(const settings& given, int64_t i) {
  const auto at = fmt::format("optimizer.groups[{}]", i);
  variable_group made;
  if (given.has(at + ".name")) {
    auto rule = choose(given, at + ".", "name", update_rule{});
    if (!rule)
      return fail(rule.error());
    made.rule = *rule;
  } else if (const auto field = field_of_a_rule(given, at)) {
    return fail(errc::invalid_argument,
                fmt::format("{}{} is the field of a rule: give {}.name too", given.origin(*field), *field, at));
  }
  bool named = false, treated = false;
  std::string origin;
  each_field(made, [&](const field_row& field, auto& value) {
    const auto key = fmt::format("{}.{}", at, field.name);
    if (!given.read(key, value))
      return;
    (field.name == "prefix" || field.name == "suffix" ? named : treated) = true;
    if (origin.empty())
      origin = given.origin(key);
  });
  if (!named)
    return fail(errc::invalid_argument,
                fmt::format("{}{} has neither prefix nor suffix: which variables belong to it?", origin, at));
  if (!treated && !made.rule)
    return fail(errc::invalid_argument,
                fmt::format("{}{} says nothing of its variables: give it rate_factor, weight_decay, frozen or name",
                            origin, at));
  return made;
}

}  // namespace

expected<optimizer> make_optimizer(const settings& given, const optimizer& standard) {
  auto rule = choose(given, "optimizer.", "name", standard.rule);
  if (!rule)
    return fail(rule.error());
  auto schedule = choose(given, "optimizer.", "schedule", standard.schedule);
  if (!schedule)
    return fail(schedule.error());
  auto made = standard;
  made.rule = *rule;
  made.schedule = *schedule;
  given.read_fields("optimizer.", made);
  if (std::visit([](const auto& o) { return has_field(o, "weight_decay"); }, made.rule))
    made.weight_decay = 0;  // This key belongs to the rule.
  given.read_fields("optimizer.clip_", made.clip);
  for (const auto& prefix :
       given.get<std::vector<std::string>>("optimizer.freeze").value_or(std::vector<std::string>{}))
    made.groups.push_back({.prefix = prefix, .frozen = true});
  const int64_t groups = given.size_of_list("optimizer.groups");
  for (int64_t i = 0; i < groups; ++i) {
    auto group = make_group(given, i);
    if (!group)
      return fail(group.error());
    made.groups.push_back(std::move(*group));
  }
  if (auto valid = validate(made); !valid)
    return fail(errc::invalid_argument,
                fmt::format("{}[optimizer] {}", given.origin("optimizer.rate"), valid.error().message));
  return made;
}

}  // namespace troupe::cli
