// What a handle that was moved from answers.
#pragma once

#include <troupe/error.hpp>

#include <string>
#include <string_view>

namespace troupe {

/// state: "the handle holds no <what>: it was moved from".
inline error moved_from(std::string_view what) {
  return {errc::state, "the handle holds no " + std::string{what} + ": it was moved from"};
}

}  // namespace troupe
