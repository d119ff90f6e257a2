#include "input/streams/added_feature.hpp"

#include <algorithm>

namespace troupe::input {

size_t place_of(const std::string& name, const element_spec& spec) {
  const auto after = std::find_if(spec.features.begin(), spec.features.end(),
                                  [&](const component& c) { return name < c.name; });
  return static_cast<size_t>(after - spec.features.begin());
}

element_spec with_feature(element_spec spec, component added) {
  const auto place = static_cast<std::ptrdiff_t>(place_of(added.name, spec));
  spec.features.insert(spec.features.begin() + place, std::move(added));
  return spec;
}

}  // namespace troupe::input
