// Whether a struct of options has a field with a given name.
#pragma once

#include <troupe/options/option_field.hpp>

#include <string_view>

namespace troupe::cli {

template <class Options>
bool has_field(const Options& o, std::string_view name) {
  bool found = false;
  each_field(o, [&](const field_row& field, const auto&) { found = found || field.name == name; });
  return found;
}

}  // namespace troupe::cli
