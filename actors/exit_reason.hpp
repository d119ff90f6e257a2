// Converts between errors and the exit reasons of actors.
#pragma once

#include <troupe/error.hpp>

#include <caf/error.hpp>

#include <exception>
#include <string>

namespace troupe {

std::string describe(const caf::error& reason);

/// Turns an error into an exit reason, of which `describe` returns the message.
caf::error to_reason(const error& cause);
/// The exit reason for an exception that left a handler.
caf::error to_reason(const std::exception_ptr& thrown);
/// The category of the error that a reason was made from; `aborted` for any other reason.
errc category_of(const caf::error& reason);

}  // namespace troupe
