#include "words/text.hpp"

#include <troupe/model.hpp>

namespace troupe {

namespace {

std::string names_of(const std::map<std::string, symbol>& values) {
  return values.empty() ? "none" : joined(values, ", ", [](const auto& value) { return quoted(value.first); });
}

}  // namespace

symbol named_symbols::operator[](key k) const {
  const auto found = values_.find(std::string{k.name});
  if (found != values_.end())
    return found->second;
  return graph_->invalid(
      {errc::key_missing, "no component is called '" + std::string{k.name} + "'; there are: " + names_of(values_)},
      k.at);
}

symbol named_symbols::only(std::source_location at) const {
  if (values_.size() == 1)
    return values_.begin()->second;
  return graph_->invalid({errc::invalid_argument, "exactly one component is needed; there are: " + names_of(values_)},
                         at);
}

}  // namespace troupe
