// The order of severity by which the root cause is chosen among several errors.
#pragma once

#include "words/step_status.hpp"

#include <troupe/error.hpp>

namespace troupe {

/// An error of greater severity is more likely the root cause: see docs/actors.md.
enum class severity : uint8_t {
  request,      ///< cancelled: requested, or a consequence of a request.
  consequence,  ///< aborted, unavailable, deadline_exceeded: follows from an earlier failure elsewhere.
  end,          ///< out_of_range: the data ended.
  not_finite,   ///< nan_loss.
  failure,      ///< All other categories.
};
constexpr severity severity_of(errc category) noexcept {
  switch (category) {
    case errc::cancelled: return severity::request;
    case errc::aborted:
    case errc::unavailable:
    case errc::deadline_exceeded: return severity::consequence;
    case errc::out_of_range: return severity::end;
    case errc::nan_loss: return severity::not_finite;
    default: return severity::failure;
  }
}

/// The severity of a step, whatever the category of its error: bad input may have the category `unavailable`.
constexpr severity severity_of(step_status status) noexcept {
  return has(status, step_status::bad_input)    ? severity::failure
         : has(status, step_status::not_finite) ? severity::not_finite
         : has(status, step_status::ended)      ? severity::end
                                                : severity::request;
}

}  // namespace troupe
