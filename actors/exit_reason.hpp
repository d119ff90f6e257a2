// Converts between errors and the exit reasons of actors.
#pragma once

#include <troupe/error.hpp>

#include <caf/error.hpp>

#include <exception>
#include <stdexcept>
#include <string>

namespace troupe {

/// An actor that throws this ends with the category and the message of its cause, which is no defect of the actor: a
/// function of the user's threw, or memory is short.
class ended_by_error : public std::runtime_error {
 public:
  explicit ended_by_error(error cause) : std::runtime_error(to_text(cause)), cause_(std::move(cause)) {}
  const error& cause() const noexcept { return cause_; }

 private:
  error cause_;
};

std::string describe(const caf::error& reason);

/// Turns an error into an exit reason, of which `describe` returns the message.
caf::error to_reason(const error& cause);
/// The exit reason for an exception that left a handler.
caf::error to_reason(const std::exception_ptr& thrown);
/// The category of the error that a reason was made from; `aborted` for any other reason.
errc category_of(const caf::error& reason);

}  // namespace troupe
