#include "cli/configuration/optimizer_setup.hpp"

#include "cli/configuration/joined.hpp"

#include <troupe/optimizer/optimizer_fields.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace troupe::cli {

namespace {

std::string key_of(std::string_view field) { return fmt::format("optimizer.{}", field); }

void read(const settings& given, const std::string& key, float& into) { into = static_cast<float>(given.number(key).value_or(static_cast<double>(into))); }
void read(const settings& given, const std::string& key, bool& into) { into = given.boolean(key).value_or(into); }
void read(const settings& given, const std::string& key, int64_t& into) { into = given.integer(key).value_or(into); }
void read(const settings& given, const std::string& key, std::vector<int64_t>& into) { into = given.integers(key); }
void read(const settings& given, const std::string& key, std::vector<float>& into) {
  const auto numbers = given.numbers(key);
  std::transform(numbers.begin(), numbers.end(), std::back_inserter(into), [](double x) { return static_cast<float>(x); });
}

/// Calls f(option) for each alternative with its defaults.
template <class F, class... Options>
void each_alternative(const std::variant<Options...>&, F f) {
  (f(Options{}), ...);
}

template <class Options>
bool has_field(const Options& o, std::string_view name) {
  bool found = false;
  each_field(o, [&](std::string_view field, const auto&, field_range) { found = found || field == name; });
  return found;
}

/// The alternative that `key` names, with its fields as given. A field of another alternative is an error, unless the
/// choice was made with higher precedence.
template <class Variant>
expected<Variant> choose(const settings& given, const std::string& key, const std::string& standard) {
  const std::string name = given.text(key).value_or(standard);
  const auto chosen_at = given.precedence_of(key).value_or(precedence::file);
  Variant chosen;
  each_alternative(chosen, [&](auto o) {
    if (name_of(o) != name)
      return;
    each_field(o, [&given](std::string_view field, auto& value, field_range) { read(given, key_of(field), value); });
    chosen = std::move(o);
  });
  expected<Variant> result = chosen;
  each_alternative(chosen, [&](const auto& other) {
    each_field(other, [&](std::string_view field, const auto&, field_range) {
      const auto full = key_of(field);
      const bool own = std::visit([field](const auto& o) { return has_field(o, field); }, chosen);
      if (own || !result || full == "optimizer.weight_decay" || !given.has(full) || *given.precedence_of(full) < chosen_at)
        return;
      std::vector<std::string> owners;
      each_alternative(chosen, [&](const auto& o) {
        if (has_field(o, field))
          owners.emplace_back(name_of(o));
      });
      result = fail(errc::invalid_argument, fmt::format("{}{} belongs to {}, and {} is {}", given.origin(full), full, joined(owners, ", "), key, name));
    });
  });
  return result;
}

/// Makes [[optimizer.groups]] number i.
expected<variable_group> make_group(const settings& given, int64_t i) {
  const auto at = fmt::format("optimizer.groups[{}]", i);
  variable_group made;
  bool named = false, treated = false;
  std::string origin;
  const auto value = [&](std::string_view field, auto read_value, bool& seen) {
    const auto key = fmt::format("{}.{}", at, field);
    if (!given.has(key))
      return;
    read_value(key);
    seen = true;
    if (origin.empty())
      origin = given.origin(key);
  };
  value("prefix", [&](const auto& key) { made.prefix = *given.text(key); }, named);
  value("suffix", [&](const auto& key) { made.suffix = *given.text(key); }, named);
  value("rate_factor", [&](const auto& key) { made.rate_factor = static_cast<float>(*given.number(key)); }, treated);
  value("weight_decay", [&](const auto& key) { made.weight_decay = static_cast<float>(*given.number(key)); }, treated);
  value("frozen", [&](const auto& key) { made.frozen = *given.boolean(key); }, treated);
  if (!(made.rate_factor > 0) || std::isinf(made.rate_factor))
    return fail(errc::invalid_argument, fmt::format("{}{}.rate_factor must be above 0 and a 32-bit number, not {}", given.origin(at + ".rate_factor"), at,
                                                    *given.number(at + ".rate_factor")));
  if (!named)
    return fail(errc::invalid_argument, fmt::format("{}{} has neither prefix nor suffix: which variables belong to it?", origin, at));
  if (!treated)
    return fail(errc::invalid_argument, fmt::format("{}{} says nothing of its variables: give it rate_factor, weight_decay or frozen", origin, at));
  return made;
}

}  // namespace

expected<optimizer> make_optimizer(const settings& given) {
  auto rule = choose<update_rule>(given, "optimizer.name", "adam");
  if (!rule)
    return fail(rule.error());
  auto schedule = choose<learning_rate_schedule>(given, "optimizer.schedule", "constant");
  if (!schedule)
    return fail(schedule.error());
  optimizer made{.rule = *rule, .schedule = *schedule};
  read(given, "optimizer.warmup_steps", made.warmup_steps);
  read(given, "optimizer.clip_value", made.clip.value);
  read(given, "optimizer.clip_norm", made.clip.norm);
  read(given, "optimizer.clip_global_norm", made.clip.global_norm);
  read(given, "optimizer.moving_average", made.moving_average);
  read(given, "optimizer.moving_average_ramps", made.moving_average_ramps);
  if (!std::visit([](const auto& o) { return has_field(o, "weight_decay"); }, made.rule))
    read(given, "optimizer.weight_decay", made.weight_decay);
  for (const auto& prefix : given.texts("optimizer.freeze"))
    made.groups.push_back({.prefix = prefix, .frozen = true});
  const int64_t groups = given.size_of_list("optimizer.groups");
  for (int64_t i = 0; i < groups; ++i) {
    auto group = make_group(given, i);
    if (!group)
      return fail(group.error());
    made.groups.push_back(std::move(*group));
  }
  if (auto valid = validate(made); !valid)
    return fail(errc::invalid_argument, fmt::format("{}[optimizer] {}", given.origin("optimizer.rate"), valid.error().message));
  return made;
}

}  // namespace troupe::cli
