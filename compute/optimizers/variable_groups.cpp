// Groups by prefix and suffix. A name needs one look-up for each pair of prefix and suffix lengths among the groups.
#include "compute/optimizers/update.hpp"

#include <algorithm>

namespace troupe {

variable_groups::variable_groups(std::span<const variable_group> groups) : groups_(groups) {
  for (size_t i = 0; i < groups.size(); ++i) {
    lengths_.emplace(groups[i].prefix.size(), groups[i].suffix.size());
    by_ends_[{groups[i].prefix, groups[i].suffix}].push_back(i);
  }
}

template <class F>
void variable_groups::each_fitting(std::string_view variable, F f) const {
  for (const auto& [prefix, suffix] : lengths_)
    if (prefix <= variable.size() && suffix <= variable.size())
      if (const auto found = by_ends_.find({variable.substr(0, prefix), variable.substr(variable.size() - suffix)});
          found != by_ends_.end())
        f(found->second);
}

const variable_group* variable_groups::of(std::string_view variable) const {
  size_t first = groups_.size();
  each_fitting(variable, [&first](const auto& fitting) { first = std::min(first, fitting.front()); });
  return first < groups_.size() ? &groups_[first] : nullptr;
}

int32_t variable_groups::rule_of(std::string_view variable) const {
  size_t first = groups_.size();
  each_fitting(variable, [&](const auto& fitting) {
    for (size_t i : fitting)
      if (groups_[i].rule)
        return static_cast<void>(first = std::min(first, i));
  });
  return first < groups_.size() ? static_cast<int32_t>(first) : own_rule;
}

bool variable_groups::freeze(std::string_view variable) const {
  const auto* group = of(variable);
  return group && group->frozen;
}

const variable_group* variable_groups::first_without(std::span<const std::string_view> variables) const {
  std::vector<bool> fits(groups_.size());
  for (const auto variable : variables)
    each_fitting(variable, [&fits](const auto& fitting) {
      if (!fits[fitting.front()])
        for (size_t i : fitting)
          fits[i] = true;
    });
  const auto at = std::find(fits.begin(), fits.end(), false);
  return at == fits.end() ? nullptr : &groups_[static_cast<size_t>(at - fits.begin())];
}

}  // namespace troupe
