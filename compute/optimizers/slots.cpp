// The slots of each rule, with TensorFlow 1.x's names and initial values, as checkpoints store them.
#include "compute/optimizers/update.hpp"

#include <algorithm>

namespace troupe {
namespace {

using slots = std::vector<slot_description>;

slots slots_of(const gradient_descent&) { return {}; }
slots slots_of(const proximal_gradient_descent&) { return {}; }
slots slots_of(const momentum&) { return {{"Momentum"}}; }
slots slots_of(const adagrad& o) { return {{"Adagrad", init::constant(static_cast<double>(o.initial_accumulator))}}; }
slots slots_of(const rmsprop& o) {
  if (o.centered)
    return {{"RMSProp", init::ones()}, {"RMSProp_1"}, {"RMSProp_2"}};
  return {{"RMSProp", init::ones()}, {"RMSProp_1"}};
}
slots slots_of(const adadelta&) { return {{"Adadelta"}, {"Adadelta_1"}}; }
slots slots_of(const adam&) { return {{"Adam"}, {"Adam_1"}}; }
slots slots_of(const adamw&) { return {{"Adam"}, {"Adam_1"}}; }
slots slots_of(const adamax&) { return {{"AdaMax"}, {"AdaMax_1"}}; }
slots slots_of(const amsgrad&) { return {{"AMSGrad"}, {"AMSGrad_1"}, {"AMSGrad_2"}}; }
slots slots_of(const ftrl& o) {
  return {{"Ftrl", init::constant(static_cast<double>(o.initial_accumulator))}, {"Ftrl_1"}};
}
slots slots_of(const lamb&) { return {{"LAMB"}, {"LAMB_1"}}; }

}  // namespace

std::vector<slot_description> slots_of(const optimizer& o, int32_t g) {
  auto all = std::visit([](const auto& kind) { return slots_of(kind); }, rule_at(o, g));
  if (o.moving_average != 0)
    all.push_back({moving_average_slot, init::zeros(), true});
  return all;
}

bool needs_whole_variables(const update_rule& rule) { return std::holds_alternative<lamb>(rule); }

bool any_needs_whole_variables(const optimizer& o) {
  return needs_whole_variables(o.rule) || std::any_of(o.groups.begin(), o.groups.end(), [](const variable_group& g) {
           return g.rule && needs_whole_variables(*g.rule);
         });
}

bool updates_every_row(const update_rule& rule) {
  const auto is = [&rule]<class... Rule>(std::type_identity<Rule>...) {
    return (std::holds_alternative<Rule>(rule) || ...);
  };
  return is(std::type_identity<adam>{}, std::type_identity<adamw>{}, std::type_identity<amsgrad>{},
            std::type_identity<lamb>{});
}

}  // namespace troupe
