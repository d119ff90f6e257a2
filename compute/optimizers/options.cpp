#include "compute/optimizers/update.hpp"

#include <troupe/optimizer/optimizer_fields.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace troupe {
namespace {

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", x);
  return text;
}

// -- text ------------------------------------------------------------------------

std::string text_of(int64_t x) { return std::to_string(x); }
std::string text_of(float x) { return number(static_cast<double>(x)); }
template <class T>
std::string text_of(const std::vector<T>& list) {
  std::string text;
  for (const T& x : list)
    text += (text.empty() ? "" : ", ") + text_of(x);
  return "[" + text + "]";
}

/// "adam(rate = 0.001, ...)"; a flag that is set is printed as its name.
template <class Options>
std::string options_text(const Options& o) {
  std::string text;
  each_field(o, [&text]<class T>(std::string_view name, const T& value, field_range) {
    const std::string before = text.empty() ? "" : ", ";
    if constexpr (std::is_same_v<T, bool>)
      text += value ? before + std::string{name} : "";
    else
      text += before + std::string{name} + " = " + text_of(value);
  });
  return std::string{name_of(o)} + "(" + text + ")";
}

std::string group_text(const variable_group& g) {
  std::string text = "group(\"" + g.prefix + "*" + g.suffix + "\"";
  if (g.rate_factor != 1)
    text += ", rate_factor = " + text_of(g.rate_factor);
  if (g.weight_decay)
    text += ", weight_decay = " + text_of(*g.weight_decay);
  return text + (g.frozen ? ", frozen)" : ")");
}

// -- checks ----------------------------------------------------------------------

struct range_check {
  std::string owner;
  expected<void> result = {};

  void refuse(std::string_view field, const std::string& rule) {
    if (result)
      result = fail(errc::invalid_argument, owner + ": " + std::string{field} + " " + rule);
  }
  void operator()(std::string_view, bool, field_range) {}
  template <class T>
  void operator()(std::string_view field, T x, field_range range) {
    const auto value = static_cast<double>(x);
    const auto require = [&](bool right, const char* rule) {
      if (!right || !std::isfinite(value))
        refuse(field, std::string{rule} + ", not " + text_of(x));
    };
    switch (range) {
      case field_range::any: return require(true, "must be finite");
      case field_range::above_zero: return require(value > 0, "must be above 0");
      case field_range::at_least_zero: return require(value >= 0, "must be at least 0");
      case field_range::at_most_zero: return require(value <= 0, "must be at most 0");
      case field_range::at_least_one: return require(value >= 1, "must be at least 1");
      case field_range::share: return require(value >= 0 && value < 1, "must be in [0, 1)");
    }
  }
  template <class T>
  void operator()(std::string_view field, const std::vector<T>& list, field_range range) {
    for (size_t i = 0; i < list.size(); ++i)
      (*this)(std::string{field} + "[" + std::to_string(i) + "]", list[i], range);
  }
};

template <class Options>
void check_fields(range_check& check, const Options& o) {
  each_field(o, [&check](std::string_view name, const auto& value, field_range range) { check(name, value, range); });
}

expected<void> check_schedule(const learning_rate_schedule& s) {
  range_check check{"schedule " + std::visit([](const auto& kind) { return std::string{name_of(kind)}; }, s)};
  std::visit([&check](const auto& kind) { check_fields(check, kind); }, s);
  if (const auto* p = std::get_if<piecewise_constant>(&s)) {
    if (p->values.size() != p->boundaries.size() + 1)
      check.refuse("values", "must be one more than the " + std::to_string(p->boundaries.size()) + " boundaries, not " + std::to_string(p->values.size()));
    if (std::adjacent_find(p->boundaries.begin(), p->boundaries.end(), std::greater_equal{}) != p->boundaries.end())
      check.refuse("boundaries", "must ascend, not be " + text_of(p->boundaries));
  }
  return check.result;
}

/// Whether the rate falls to 0, by which FTRL would divide.
bool ends_at_zero(const learning_rate_schedule& s) {
  const auto* polynomial = std::get_if<polynomial_decay>(&s);
  const auto* cosine = std::get_if<cosine_decay>(&s);
  const auto* restarts = std::get_if<cosine_decay_restarts>(&s);
  return (polynomial && polynomial->end_rate == 0) || (cosine && cosine->alpha == 0) || (restarts && restarts->alpha == 0);
}

expected<void> check_surroundings(const optimizer& o) {
  const std::string rule{std::visit([](const auto& kind) { return name_of(kind); }, o.rule)};
  const bool is_ftrl = std::holds_alternative<ftrl>(o.rule);
  const bool decays_itself = std::holds_alternative<adamw>(o.rule) || std::holds_alternative<lamb>(o.rule);
  range_check check{"optimizer"};
  check("warmup_steps", o.warmup_steps, field_range::at_least_zero);
  check("clip.value", o.clip.value, field_range::at_least_zero);
  check("clip.norm", o.clip.norm, field_range::at_least_zero);
  check("clip.global_norm", o.clip.global_norm, field_range::at_least_zero);
  check("weight_decay", o.weight_decay, field_range::share);
  check("moving_average", o.moving_average, field_range::share);
  if (o.moving_average_ramps && o.moving_average == 0)
    check.refuse("moving_average_ramps", "means nothing without a moving_average");
  if (decays_itself && o.weight_decay != 0)
    check.refuse("weight_decay", "is given to " + rule + ", which has a weight_decay of its own");
  bool decays = o.weight_decay != 0;
  for (size_t i = 0; i < o.groups.size(); ++i) {
    const auto& g = o.groups[i];
    const auto field = "groups[" + std::to_string(i) + "]";
    if (g.prefix.empty() && g.suffix.empty())
      check.refuse(field, "has neither a prefix nor a suffix");
    check(field + ".rate_factor", g.rate_factor, field_range::above_zero);
    check(field + ".weight_decay", g.weight_decay.value_or(0), field_range::share);
    decays = decays || g.weight_decay.value_or(0) != 0;
  }
  if (is_ftrl && decays)
    check.refuse("weight_decay", "means nothing to ftrl, whose variables are made anew at each step; it has l2 and l2_shrinkage");
  if (is_ftrl && ends_at_zero(o.schedule))
    check.refuse("schedule", "must not come down to 0, since ftrl divides by the rate");
  return check.result;
}

}  // namespace

expected<void> validate(const optimizer& o) {
  range_check check{std::visit([](const auto& kind) { return std::string{name_of(kind)}; }, o.rule)};
  std::visit([&check](const auto& kind) { check_fields(check, kind); }, o.rule);
  if (!check.result)
    return check.result;
  if (auto valid = check_schedule(o.schedule); !valid)
    return valid;
  return check_surroundings(o);
}

std::string to_string(const optimizer& o) {
  std::string text = std::visit([](const auto& kind) { return options_text(kind); }, o.rule);
  if (!std::holds_alternative<constant_rate>(o.schedule))
    text += ", schedule = " + std::visit([](const auto& kind) { return options_text(kind); }, o.schedule);
  const auto add = [&text](const char* name, auto value) {
    if (value != 0)
      text += std::string{", "} + name + " = " + text_of(value);
  };
  add("warmup_steps", o.warmup_steps);
  add("clip.value", o.clip.value);
  add("clip.norm", o.clip.norm);
  add("clip.global_norm", o.clip.global_norm);
  add("weight_decay", o.weight_decay);
  for (const auto& g : o.groups)
    text += ", " + group_text(g);
  add("moving_average", o.moving_average);
  return text + (o.moving_average_ramps ? ", moving_average_ramps" : "");
}

}  // namespace troupe
