// Errors as values: a category, a sentence that names the fault, and notes.
// Read it to begin with.
//
//   tr::expected<tr::dataset> images = tr::open_idx(...);
//   if (!images) return tr::print_error(images.error());
//
// The public API does not throw for expected failures. A broken invariant is an assertion and ends the process.
#pragma once

#include <troupe/api.hpp>

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// The category of an error. Jobs recover automatically only from `aborted` and `unavailable`.
enum class errc : uint8_t {
  invalid_argument = 1,  ///< A value that is invalid in any state: a flag, a shape, an option.
  type,                  ///< A value of another type or kind than the one requested.
  state,                 ///< A call that is not allowed in the current state; an exception of a user's function.
  key_missing,           ///< A name that does not exist.
  out_of_range,          ///< The end of the data, or a clean stop.
  aborted,               ///< Work was lost because of another failure, and may be repeated.
  unavailable,           ///< A peer or service cannot be reached now.
  cancelled,             ///< Ended by a request, or because something else ended first.
  deadline_exceeded,     ///< A wait lasted longer than its limit.
  failed_precondition,   ///< The directory or system is not in the state that the call requires.
  not_found,             ///< A file, variable or checkpoint that does not exist.
  data_loss,             ///< Stored bytes are damaged: a checksum, a length or a magic number is wrong.
  unimplemented,         ///< Valid, but not supported.
  nan_loss,              ///< The loss or a gradient is not finite: a special case of `state`.
  resource_exhausted,    ///< A full disk, or a limit on memory or handles.
};

/// The category in snake_case, as written in logs and JSON.
TROUPE_API std::string_view to_string(errc category) noexcept;

/// A plain value, which any thread may use.
struct error {
  errc category = errc::state;
  std::string message;                  ///< One sentence without a final full stop; names the thing and the value.
  std::vector<std::string> notes = {};  ///< Secondary causes, oldest first.
  std::string source = {};              ///< The actor that failed ("replica/0"); empty outside a job.
  std::optional<int64_t> step = {};     ///< The step that failed; absent: none.

  friend bool operator==(const error&, const error&) = default;
};

/// "nan_loss: the loss is not finite (replica/0, step 17)\n  note: ...".
TROUPE_API std::string to_text(const error& e);

/// A value or an error.
template <class T>
using expected = tl::expected<T, error>;

/// Makes an error for a function that returns an `expected`: `return fail(errc::not_found, "...");`
inline tl::unexpected<error> fail(errc category, std::string message) {
  return tl::unexpected<error>{error{category, std::move(message)}};
}
inline tl::unexpected<error> fail(error e) { return tl::unexpected<error>{std::move(e)}; }

}  // namespace troupe
