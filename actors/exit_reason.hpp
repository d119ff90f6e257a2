// Translates between errors and the reasons for which actors end.
#pragma once

#include <troupe/error.hpp>

#include <caf/error.hpp>

#include <exception>
#include <string>

namespace troupe {

std::string describe(const caf::error& reason);

/// Turns an error into an exit reason; `describe` returns its message.
caf::error to_reason(const error& cause);
/// Describes an exception that left a handler.
caf::error to_reason(const std::exception_ptr& thrown);
/// The category of the error that a reason was made from; `aborted` for any other reason.
errc category_of(const caf::error& reason);

}  // namespace troupe
