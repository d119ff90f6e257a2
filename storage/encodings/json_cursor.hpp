// Reads JSON from untrusted files in place: it builds no values, so it needs no memory beyond the text, however large
// or deep that is. First check the whole text, then walk over it:
//
//   if (const auto flaw = find_flaw(text)) ...
//   json_cursor at{text};
//   for (bool more = at.enter(); more; more = at.next())      // of a list
//     at.skip();
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// The nesting limit of our own files; a manifest needs 3. It prevents a stack overflow, which cannot be reported as an
/// error, in recursive parsers and destructors.
inline constexpr int json_depth_max = 64;

struct json_flaw {
  size_t at = 0;      ///< Offset of the first wrong byte; the text's length if it ends too early.
  bool deep = false;  ///< The text is JSON so far, but nests too deep.
};

/// Checks that `text` is one JSON value by RFC 8259, in UTF-8, with or without a byte order mark. Absent if it is.
/// `depth_max` is at most 64.
std::optional<json_flaw> find_flaw(std::string_view text, int depth_max = json_depth_max) noexcept;
/// The flaw in words, counting bytes from 1: "is no JSON at byte 7", "nests deeper than 64 at byte 4711".
std::string to_text(const json_flaw& flaw);

/// A position in a text in which `find_flaw` found nothing. A copy moves independently.
class json_cursor {
 public:
  explicit json_cursor(std::string_view text) noexcept;

  // -- the value that begins here ----------------------------------------------------

  bool is_list() const noexcept { return *at_ == '['; }
  bool is_object() const noexcept { return *at_ == '{'; }
  bool is_text() const noexcept { return *at_ == '"'; }
  bool is_number() const noexcept { return *at_ == '-' || (*at_ >= '0' && *at_ <= '9'); }
  /// The bytes of the value, without surrounding blanks: "1.5", "\"x\"", "[1, 2]".
  std::string_view token() const noexcept;
  /// The number of elements of a list, or of members of an object.
  int64_t count() const noexcept;

  // These read the value and move past it; or return false and do not move.

  bool read(bool& into) noexcept;
  /// Reads a number, rounded to `into` (tiny ones to 0). Returns false if it is too large for a finite value.
  bool read(double& into) noexcept;
  bool read(float& into) noexcept;
  /// Reads a number without point and exponent, if it fits `into`.
  bool read(int64_t& into) noexcept;
  bool read(int32_t& into) noexcept { return read_as<int32_t>(into); }
  bool read(uint8_t& into) noexcept { return read_as<uint8_t>(into); }
  void skip() noexcept { pass(end_of_value()); }

  // -- lists and objects --------------------------------------------------------------

  /// Moves to the first element of a list, or to the name of an object's first member. If there is none, moves past the
  /// value and returns false.
  bool enter() noexcept;
  /// The name of a member, as written in the text. Moves to its value.
  std::string_view name() noexcept;
  /// Call after a value. Moves to the next element or member. If there is none, moves past the list or object and
  /// returns false.
  bool next() noexcept;

 private:
  template <class T>
  bool read_as(T& into) noexcept;
  const char* end_of_value() const noexcept;
  void pass(const char* to) noexcept;

  const char* at_;
  const char* end_;
};

/// Whether the string `token`, with its quotes, stands for `text`.
bool is_json_of(std::string_view token, std::string_view text) noexcept;
/// The text that such a token stands for. After at most `bytes_max` bytes it is cut off with "...".
std::string text_of_json(std::string_view token, size_t bytes_max);

}  // namespace troupe
