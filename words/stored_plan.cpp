#include "words/stored_plan.hpp"

#include <algorithm>

namespace troupe {

namespace {

bool is_in(std::string_view scope, std::string_view name) { return scope.ends_with('/') && name.starts_with(scope); }

}  // namespace

bool stored_growth::names(const std::vector<std::string>& all, std::string_view name) {
  return std::any_of(all.begin(), all.end(),
                     [name](const std::string& one) { return one == name || is_in(one, name); });
}

std::string stored_growth::before(const std::string& name) const {
  if (const auto found = renamed.find(name); found != renamed.end())
    return found->second;
  for (const auto& [scope, old] : renamed)
    if (is_in(scope, name))
      return old + name.substr(scope.size());
  return name;
}

}  // namespace troupe
