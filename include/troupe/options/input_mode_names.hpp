// The names of input modes, as files and flags have them (options/option_field.hpp).
// Not needed to begin with.
#pragma once

#include <troupe/input_mode.hpp>
#include <troupe/options/option_field.hpp>

namespace troupe {

template <>
struct option_choices<input_mode> {
  static const inline std::pair<std::string_view, input_mode> all[] = {{"per_core", input_mode::per_core},
                                                                       {"per_host", input_mode::per_host},
                                                                       {"per_replica", input_mode::per_replica},
                                                                       {"broadcast", input_mode::broadcast},
                                                                       {"sliced", input_mode::sliced}};
};

}  // namespace troupe
