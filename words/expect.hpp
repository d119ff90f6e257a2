// A condition that holds unless the program itself is wrong: checked in release builds, too.
#pragma once

#include <stdexcept>
#include <string>

namespace troupe {

/// An actor that throws it ends with errc::state, which no new attempt cures.
struct broken_invariant : std::logic_error {
  using std::logic_error::logic_error;
};

/// `text` says what is wrong, as "the chief asks its parts without an end".
inline void expect(bool condition, const char* text) {
  if (!condition) [[unlikely]]
    throw broken_invariant{text};
}

}  // namespace troupe
