// Errors as values: a category, a sentence that names what was wrong, and what else was known.
// Read it to begin with.
//
//   tr::expected<tr::dataset> images = tr::open_idx(...);
//   if (!images) return tr::report(images.error());
//
// Nothing in the public API throws for expected trouble. A broken invariant is an assertion and stops the process.
#pragma once

#include <troupe/api.hpp>

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// The category of an error. Only `aborted` and `unavailable` are ever recovered from automatically.
enum class errc : uint8_t {
  invalid_argument = 1,  ///< A value that can never be right, whatever the state: a flag, a shape, an option.
  type,                  ///< A thing is of another kind than the one requested.
  state,                 ///< A call that is not allowed now.
  key_missing,           ///< A name that the map does not have.
  out_of_range,          ///< The end of the data; also the signal of a clean stop.
  aborted,               ///< Work was lost through no fault of its own and may be repeated.
  unavailable,           ///< A peer or service cannot be reached now.
  cancelled,             ///< Ended because something else ended first.
  deadline_exceeded,     ///< A wait lasted longer than its bound.
  failed_precondition,   ///< The system is not in the condition that the call needs.
  not_found,             ///< A file, variable or checkpoint that is not there.
  data_loss,             ///< Stored bytes are damaged: a checksum, a length or a magic number is wrong.
  unimplemented,         ///< Known, and not supported.
  nan_loss,              ///< The loss or a gradient is not finite. A subclass of `state`.
  resource_exhausted,    ///< A full disk, or a limit on memory or handles.
};

/// The category in snake_case, as written in logs and JSON.
TROUPE_API std::string_view to_string(errc category) noexcept;

/// Copyable, comparable by value, safe to hand to any thread.
struct error {
  errc category = errc::state;
  std::string message;               ///< One sentence without a final full stop; names the thing and the value.
  std::vector<std::string> notes = {};    ///< Secondary causes, oldest first.
  std::string source = {};           ///< The actor it came from ("replica/0"); empty outside a job.
  std::optional<int64_t> step = {};  ///< The step at which it happened, if there was one.

  friend bool operator==(const error&, const error&) = default;
};

/// "nan_loss: the loss is not finite (replica/0, step 17)\n  note: ...".
TROUPE_API std::string to_string(const error& e);

template <class T>
using expected = tl::expected<T, error>;

/// `return fail(errc::not_found, "...")` from any function that returns an `expected`.
inline tl::unexpected<error> fail(errc category, std::string message) {
  return tl::unexpected<error>{error{category, std::move(message)}};
}
inline tl::unexpected<error> fail(error e) {
  return tl::unexpected<error>{std::move(e)};
}

}  // namespace troupe
