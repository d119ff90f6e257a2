// An exception that carries an error.
#pragma once

#include <troupe/error.hpp>

#include <stdexcept>
#include <utility>

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

}  // namespace troupe
