#include "cli/optimizer_setup.hpp"

#include "cli/joined.hpp"

#include <troupe/optimizer_fields.hpp>

#include <fmt/format.h>

#include <algorithm>

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

/// f(option) for each alternative, as it is by default.
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

/// The alternative that `key` names, with its fields as they are given. A field of another one is a mistake, unless the choice was
/// made nearer to the user.
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
  if (auto valid = validate(made); !valid)
    return fail(errc::invalid_argument, fmt::format("{}[optimizer] {}", given.origin("optimizer.rate"), valid.error().message));
  return made;
}

}  // namespace troupe::cli
