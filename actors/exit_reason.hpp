// Why an actor ended, in words.
#pragma once

#include <caf/error.hpp>

#include <string>

namespace troupe {

std::string describe(const caf::error& reason);

}  // namespace troupe
