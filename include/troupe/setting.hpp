// An option that tells "never set" from "off", as the Estimator does for the two triggers of checkpoints.
// Not needed to begin with.
#pragma once

#include <troupe/error.hpp>

namespace troupe {

/// An option with three states: never set, std::nullopt (off), or a value.
template <class T>
class setting {
 public:
  constexpr setting() = default;
  // Implicit, because a field is assigned its value, or none.
  constexpr setting(std::nullopt_t) : mentioned_(true) {}          // NOLINT(google-explicit-constructor)
  constexpr setting(T value) : mentioned_(true), value_(value) {}  // NOLINT(google-explicit-constructor)

  constexpr bool mentioned() const noexcept { return mentioned_; }
  /// Absent if off or never set.
  constexpr const std::optional<T>& value() const noexcept { return value_; }

  friend constexpr bool operator==(const setting&, const setting&) = default;

 private:
  bool mentioned_ = false;
  std::optional<T> value_;
};

}  // namespace troupe
