#include "cli/configuration/optimizer_setup.hpp"

#include "cli/configuration/choose.hpp"

#include <troupe/options/optimizer_fields.hpp>

#include <fmt/format.h>

namespace troupe::cli {

namespace {

/// The first key of the group at `at` that is a field of update rules only.
std::optional<std::string> field_of_a_rule(const settings& given, const std::string& at) {
  for (const auto& key : given.keys_beginning(at + "."))
    if (!has_field(variable_group{}, key.substr(at.size() + 1)))
      return key;
  return {};
}

/// Makes the group at `at`, such as "optimizer.groups[0]".
expected<variable_group> make_group(const settings& given, const std::string& at) {
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

expected<optimizer> make_optimizer(const settings& given, const optimizer& standard, const std::string& at) {
  auto rule = choose(given, at, "name", standard.rule, "weight_decay");
  if (!rule)
    return fail(rule.error());
  auto schedule = choose(given, at, "schedule", standard.schedule);
  if (!schedule)
    return fail(schedule.error());
  auto made = standard;
  made.rule = *rule;
  made.schedule = *schedule;
  given.read_fields(at, made);
  if (std::visit([](const auto& o) { return has_field(o, "weight_decay"); }, made.rule))
    made.weight_decay = 0;  // This key belongs to the rule.
  given.read_fields(at + "clip_", made.clip);
  for (const auto& prefix : given.get<std::vector<std::string>>(at + "freeze").value_or(std::vector<std::string>{}))
    made.groups.push_back({.prefix = prefix, .frozen = true});
  const std::string list = at + "groups";
  const int64_t groups = given.size_of_list(list);
  for (int64_t i = 0; i < groups; ++i) {
    auto group = make_group(given, fmt::format("{}[{}]", list, i));
    if (!group)
      return fail(group.error());
    made.groups.push_back(std::move(*group));
  }
  if (auto valid = validate(made); !valid)
    return fail(errc::invalid_argument, fmt::format("{}[{}] {}", given.origin(at + "rate"), at.substr(0, at.size() - 1),
                                                    valid.error().message));
  return made;
}

}  // namespace troupe::cli
