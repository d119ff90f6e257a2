#include "compute/graph/reusable_scope.hpp"

namespace troupe {

reusable_scope::reusable_scope(graph& g, const std::string& scope)
  : contents_(contents_of(g)), prefix_(scope.empty() ? scope : scope + "/") {}

/// A name below the scope counts as not yet requested, so that the same calls make the same names.
reusable_scope::guard::guard(reusable_scope& of) : contents_(of.contents_), again_(std::exchange(of.built_, true)) {
  contents_.scopes.push_back(of.prefix_);
  if (!again_)
    return;
  contents_.reuses_variables = true;
  names_ = contents_.names;
  std::erase_if(contents_.names, [&of](const auto& one) { return one.first.starts_with(of.prefix_); });
  summaries_ = contents_.summaries;
  observed_ = contents_.observed;
  host_calls_ = contents_.host_calls;
  contents_.summaries.clear();
  contents_.observed.clear();
  contents_.host_calls.clear();
}

reusable_scope::guard::~guard() {
  contents_.scopes.pop_back();
  if (!again_)
    return;
  contents_.reuses_variables = false;
  for (auto& [name, count] : names_) {
    auto& requested = contents_.names[name];
    requested = std::max(requested, count);
  }
  contents_.summaries = std::move(summaries_);
  contents_.observed = std::move(observed_);
  contents_.host_calls = std::move(host_calls_);
}

}  // namespace troupe
