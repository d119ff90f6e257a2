// Reads JSON from outside in place: no values are built, so that a text takes no memory beside its own, however large or nested it is.
// A text is checked as a whole, then walked over:
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

/// Limit for our own files; a manifest has 3. Parsers, and destructors of what they build, may recurse, and a stack overflow is no error.
inline constexpr int json_depth_max = 64;

struct json_flaw {
  size_t at = 0;                        ///< The first byte that cannot be; the length of the text where it ends too early.
  bool deep = false;                    ///< It is JSON so far, and nests too deep.
};

/// Absent: `text` is one value by RFC 8259, in UTF-8, perhaps after its byte order mark. At most 64 levels can be asked for.
std::optional<json_flaw> find_flaw(std::string_view text, int depth_max = json_depth_max) noexcept;
/// "is no JSON at byte 7", counted from 1; "nests deeper than 64 at byte 4711".
std::string to_text(const json_flaw& flaw);

/// A place in a text that `find_flaw` has found to be whole. Copies are other places.
class json_cursor {
 public:
  explicit json_cursor(std::string_view text) noexcept;

  // -- the value that begins here ----------------------------------------------------

  bool is_list() const noexcept { return *at_ == '['; }
  bool is_object() const noexcept { return *at_ == '{'; }
  bool is_text() const noexcept { return *at_ == '"'; }
  bool is_number() const noexcept { return *at_ == '-' || (*at_ >= '0' && *at_ <= '9'); }
  /// Its bytes, without blanks around: "1.5", "\"x\"", "[1, 2]".
  std::string_view token() const noexcept;
  /// The elements of a list, or the members of an object.
  int64_t count() const noexcept;

  // These read the value and go past it, or return false and stay.

  bool read(bool& into) noexcept;
  /// A finite number that `into` holds; rounded, and rounded to 0, as it has to be.
  bool read(double& into) noexcept;
  bool read(float& into) noexcept;
  /// A number without a point and an exponent that `into` holds.
  bool read(int64_t& into) noexcept;
  bool read(int32_t& into) noexcept { return read_as<int32_t>(into); }
  bool read(uint8_t& into) noexcept { return read_as<uint8_t>(into); }
  void skip() noexcept { pass(end_of_value()); }

  // -- lists and objects --------------------------------------------------------------

  /// Goes to the first element of a list, or to the name of the first member of an object. False: there is none, and it is past it.
  bool enter() noexcept;
  /// The name of a member, as it stands in the text; goes to the value.
  std::string_view name() noexcept;
  /// After a value: goes to the next one, or past the list or object, and returns false.
  bool next() noexcept;

 private:
  template <class T>
  bool read_as(T& into) noexcept;
  const char* end_of_value() const noexcept;
  void pass(const char* to) noexcept;

  const char* at_;
  const char* end_;
};

/// Whether the text of a token with its quotes is `text`.
bool is_json_of(std::string_view token, std::string_view text) noexcept;
/// The text of such a token, at most so many bytes of it and then "...".
std::string text_of_json(std::string_view token, size_t bytes_max);

}  // namespace troupe
