// A check of a condition that fails only if the program itself is wrong. Active in release builds, too.
#pragma once

#include <stdexcept>
#include <string>

namespace troupe {

/// An actor that throws this ends with errc::state, which no new attempt cures.
struct broken_invariant : std::logic_error {
  using std::logic_error::logic_error;
};

/// Throws if `condition` is false. `text` says what is wrong, such as "the chief asks its parts without an end".
inline void expect(bool condition, const char* text) {
  if (!condition) [[unlikely]]
    throw broken_invariant{text};
}

}  // namespace troupe
