// JSON from files as a tree of nlohmann's values, for small documents of limited depth. The destructors of nlohmann's
// trees allocate memory, and end the program if there is none; this tree is destroyed without allocating.
#pragma once

#include "storage/encodings/json_cursor.hpp"

#include <troupe/error.hpp>

#include <nlohmann/json.hpp>

#include <new>
#include <type_traits>

namespace troupe {

class json_tree {
 public:
  /// Not `ordered_json`, which copies trees while it grows and destroys the copies.
  using value = nlohmann::json;

  /// Parses a text in which `find_flaw` found nothing. Throws nlohmann's exceptions, for example for a number that does
  /// not fit a double, and std::bad_alloc.
  explicit json_tree(std::string_view text);
  const value& root() const noexcept { return held_.root; }

 private:
  /// A member with a destructor, so that the partial tree is destroyed if the constructor above throws.
  struct holder {
    value root = nullptr;

    holder() = default;
    holder(const holder&) = delete;
    holder& operator=(const holder&) = delete;
    ~holder();
  };
  holder held_;
};

/// A 64-bit integer. Throws nlohmann's exception for anything else: `get` would also convert 1e30, which does not fit.
int64_t integer_of(const json_tree::value& j);

/// Parses `text`, the content of a file, and returns what `read` makes of the tree. `file` begins the error texts:
/// "a/b.json: ". Errors: those of `read`; data_loss for invalid JSON ("a/b.json: it is no JSON at byte 7") or if `read`
/// throws one of nlohmann's exceptions; resource_exhausted.
template <class Read>
auto read_json(std::string_view text, const std::string& file, Read read)
    -> std::invoke_result_t<Read, const json_tree::value&> {
  try {
    if (const auto flaw = find_flaw(text))
      return fail(errc::data_loss, file + "it " + to_text(*flaw));
    const json_tree tree{text};
    return read(tree.root());
  } catch (const nlohmann::json::exception& e) {
    return fail(errc::data_loss, file + e.what());
  } catch (const std::bad_alloc&) {
    return fail(errc::resource_exhausted, file + "there is no memory to read it");
  }
}

}  // namespace troupe
