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

std::optional<std::string> stored_growth::old_name(std::string_view name) const {
  if (const auto found = renamed.find(std::string{name}); found != renamed.end())
    return found->second;
  for (const auto& [scope, old] : renamed)
    if (is_in(scope, name))
      return old + std::string{name.substr(scope.size())};
  return std::nullopt;
}

}  // namespace troupe
