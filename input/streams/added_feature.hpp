// A feature that a stage adds to those of its inner stage.
#pragma once

#include <troupe/dataset.hpp>

namespace troupe::input {

/// The index that a new feature of that name has among all components: features are sorted by name, labels follow.
size_t place_of(const std::string& name, const element_spec& spec);
/// The spec with the feature at its place. It must not have one of that name.
element_spec with_feature(element_spec spec, component added);

}  // namespace troupe::input
