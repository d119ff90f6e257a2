// Why an actor ended, in words.
#pragma once

#include <troupe/error.hpp>

#include <caf/error.hpp>

#include <exception>
#include <string>

namespace troupe {

std::string describe(const caf::error& reason);

/// An error as the reason for which an actor ends; `describe` has its message.
caf::error to_reason(const error& cause);
/// What left a handler.
caf::error to_reason(const std::exception_ptr& thrown);
/// That of the error a reason was made from; `aborted` of any other.
errc category_of(const caf::error& reason);

}  // namespace troupe
