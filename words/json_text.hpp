// Reads and writes small JSON texts through nlohmann's trees, with errors that name a value by its path.
#pragma once

#include <troupe/error.hpp>

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <new>
#include <type_traits>

namespace troupe::json_text {

using json = nlohmann::json;  ///< Its objects are sorted by key.

// -- writing -------------------------------------------------------------------------

/// One line of ASCII with ", " and ": " between elements: the text that Python's `json.dumps(x, sort_keys=True)`
/// writes. Bytes that are not UTF-8 become U+FFFD.
std::string text_of(const json& value);
/// JSON has no such numbers, so "inf", "-inf" and "nan" are written as texts.
json as_json(double x);
/// Whether the bytes can be written as a text and read back.
bool is_utf8(const std::string& bytes);

// -- reading -------------------------------------------------------------------------

/// Thrown by the functions below; `read` makes it an error.
struct wrong {
  std::string what;
  errc category = errc::data_loss;
};

/// A value with its path in the text, such as "subnetworks[0].builder_name". Each function throws `wrong`, naming the
/// path, the value and what would be right.
class entry {
 public:
  entry(const json& value, std::string path) : value_(&value), path_(std::move(path)) {}

  /// Throws unless this is an object that has each of `names`, and no others except those in `optional`.
  void require_members(std::initializer_list<std::string_view> names,
                       std::initializer_list<std::string_view> optional = {}) const;
  bool has(std::string_view name) const { return value_->contains(name); }
  entry at(std::string_view name) const;                       ///< A member that is there.
  std::vector<entry> elements() const;                         ///< Of a list.
  std::vector<std::pair<std::string, entry>> members() const;  ///< Of an object, sorted by name.
  int64_t integer() const;                                     ///< Of 64 bits.
  int64_t count() const;                                       ///< A whole number from 0 to 2^53.
  double number() const;                                       ///< Also reads what `as_json` writes.
  bool boolean() const;
  std::string text() const;
  const json& value() const noexcept { return *value_; }

  [[noreturn]] void refuse(const std::string& what_is_right) const;

 private:
  const json* value_;
  std::string path_;
};

/// Throws `wrong` for a text that is not JSON, that nests deeper than 64 or that has a key twice in one object.
json parse(std::string_view text);

/// What `get` returns for the JSON in `text`. `file` begins the messages: "architecture-2.json". Errors: those that
/// were thrown; resource_exhausted.
template <class Get>
auto read(std::string_view text, const std::string& file, Get get) -> expected<std::invoke_result_t<Get, entry>> {
  try {
    const json root = parse(text);
    return get(entry{root, ""});
  } catch (const wrong& found) {
    return fail(found.category, file + ": " + found.what);
  } catch (const std::bad_alloc&) {
    return fail(errc::resource_exhausted, file + ": there is no memory to read it");
  }
}

}  // namespace troupe::json_text
