#include "compute/optimizers/update.hpp"

#include <troupe/options/optimizer_fields.hpp>

#include <algorithm>

namespace troupe {
namespace {

// -- text ------------------------------------------------------------------------

/// A text such as "adam(rate = 0.001, ...)". A flag that is set is printed as its name.
template <class Options>
std::string options_text(const Options& o) {
  std::string text;
  each_field(o, [&text]<class T>(const auto& field, const T& value) {
    const std::string before = text.empty() ? "" : ", ";
    if constexpr (std::is_same_v<T, bool>)
      text += value ? before + std::string{field.name} : "";
    else
      text += before + std::string{field.name} + " = " + option_text(value);
  });
  return std::string{name_of(o)} + "(" + text + ")";
}

std::string group_text(const variable_group& g) {
  std::string text = "group(\"" + g.prefix + "*" + g.suffix + "\"";
  if (g.rate_factor != 1)
    text += ", rate_factor = " + option_text(g.rate_factor);
  if (g.weight_decay)
    text += ", weight_decay = " + option_text(*g.weight_decay);
  if (g.rule)
    text += ", " + std::visit([](const auto& kind) { return options_text(kind); }, *g.rule);
  return text + (g.frozen ? ", frozen)" : ")");
}

// -- checks ----------------------------------------------------------------------

/// Keeps the first error that is found.
struct first_refusal {
  std::string owner;
  expected<void> result = {};

  void refuse(std::string_view field, const std::string& rule) {
    if (result)
      result = fail(errc::invalid_argument, owner + ": " + std::string{field} + " " + rule);
  }
  /// Checks each field of `o` against its limits.
  template <class Options>
  void check(const Options& o, const std::string& before = "") {
    if (result)
      result = check_fields(o, owner + ": " + before);
  }
};

expected<void> check_schedule(const learning_rate_schedule& s) {
  first_refusal first{"schedule " + std::visit([](const auto& kind) { return std::string{name_of(kind)}; }, s)};
  std::visit([&first](const auto& kind) { first.check(kind); }, s);
  if (const auto* p = std::get_if<piecewise_constant>(&s)) {
    if (p->values.size() != p->boundaries.size() + 1)
      first.refuse("values", "must be one more than the " + std::to_string(p->boundaries.size()) + " boundaries, not "
                                 + std::to_string(p->values.size()));
    if (std::adjacent_find(p->boundaries.begin(), p->boundaries.end(), std::greater_equal{}) != p->boundaries.end())
      first.refuse("boundaries", "must ascend, not be " + option_text(p->boundaries));
  }
  return first.result;
}

/// Whether the rate falls to 0, by which FTRL would divide.
bool ends_at_zero(const learning_rate_schedule& s) {
  const auto* polynomial = std::get_if<polynomial_decay>(&s);
  const auto* cosine = std::get_if<cosine_decay>(&s);
  const auto* restarts = std::get_if<cosine_decay_restarts>(&s);
  return (polynomial && polynomial->end_rate == 0) || (cosine && cosine->alpha == 0)
         || (restarts && restarts->alpha == 0);
}

expected<void> check_surroundings(const optimizer& o) {
  const std::string rule{std::visit([](const auto& kind) { return name_of(kind); }, o.rule)};
  const bool is_ftrl = std::holds_alternative<ftrl>(o.rule);
  const bool decays_itself = std::holds_alternative<adamw>(o.rule) || std::holds_alternative<lamb>(o.rule);
  first_refusal first{"optimizer"};
  first.check(o);
  first.check(o.clip, "clip.");
  if (o.moving_average_ramps && o.moving_average == 0)
    first.refuse("moving_average_ramps", "means nothing without a moving_average");
  if (decays_itself && o.weight_decay != 0)
    first.refuse("weight_decay", "is given to " + rule + ", which has a weight_decay of its own");
  // parameter_layout reports a variable whose decay and rule come from two groups, since it knows the variable's name.
  bool ftrl_decays = is_ftrl && o.weight_decay != 0 && o.groups.empty(), decay_of_another = false, any_ftrl = is_ftrl;
  for (size_t i = 0; i < o.groups.size(); ++i) {
    const auto& g = o.groups[i];
    const auto field = "groups[" + std::to_string(i) + "]";
    if (g.prefix.empty() && g.suffix.empty())
      first.refuse(field, "has neither a prefix nor a suffix");
    first.check(g, field + ".");
    if (g.rule)
      std::visit([&](const auto& kind) { first.check(kind, field + ".rule."); }, *g.rule);
    if (g.rule && g.frozen)
      first.refuse(field, "has a rule, which means nothing to frozen variables");
    if (g.rule && std::holds_alternative<ftrl>(*g.rule)) {
      any_ftrl = true;
      ftrl_decays = ftrl_decays || (!decay_of_another && g.weight_decay.value_or(o.weight_decay) != 0);
    }
    decay_of_another = decay_of_another || g.weight_decay;
  }
  if (ftrl_decays)
    first.refuse("weight_decay", std::string{no_decay_of_ftrl});
  if (any_ftrl && ends_at_zero(o.schedule))
    first.refuse("schedule", "must not come down to 0, since ftrl divides by the rate");
  return first.result;
}

}  // namespace

expected<void> validate(const optimizer& o) {
  first_refusal first{std::visit([](const auto& kind) { return std::string{name_of(kind)}; }, o.rule)};
  std::visit([&first](const auto& kind) { first.check(kind); }, o.rule);
  if (!first.result)
    return first.result;
  if (auto valid = check_schedule(o.schedule); !valid)
    return valid;
  return check_surroundings(o);
}

std::string to_text(const optimizer& o) {
  std::string text = std::visit([](const auto& kind) { return options_text(kind); }, o.rule);
  if (!std::holds_alternative<constant_rate>(o.schedule))
    text += ", schedule = " + std::visit([](const auto& kind) { return options_text(kind); }, o.schedule);
  const auto add = [&text](const char* name, auto value) {
    if (value != 0)
      text += std::string{", "} + name + " = " + option_text(value);
  };
  add("warmup_steps", o.warmup_steps);
  if (o.reduce != reduction::mean)
    text += ", reduce = " + option_text(o.reduce);
  add("clip.value", o.clip.value);
  add("clip.norm", o.clip.norm);
  add("clip.global_norm", o.clip.global_norm);
  add("weight_decay", o.weight_decay);
  for (const auto& g : o.groups)
    text += ", " + group_text(g);
  add("moving_average", o.moving_average);
  return text + (o.moving_average_ramps ? ", moving_average_ramps" : "");
}

gradient_descent::operator optimizer() const { return {.rule = *this}; }
proximal_gradient_descent::operator optimizer() const { return {.rule = *this}; }
momentum::operator optimizer() const { return {.rule = *this}; }
adagrad::operator optimizer() const { return {.rule = *this}; }
rmsprop::operator optimizer() const { return {.rule = *this}; }
adadelta::operator optimizer() const { return {.rule = *this}; }
adam::operator optimizer() const { return {.rule = *this}; }
adamw::operator optimizer() const { return {.rule = *this}; }
adamax::operator optimizer() const { return {.rule = *this}; }
amsgrad::operator optimizer() const { return {.rule = *this}; }
ftrl::operator optimizer() const { return {.rule = *this}; }
lamb::operator optimizer() const { return {.rule = *this}; }

}  // namespace troupe
