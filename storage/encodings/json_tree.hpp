// JSON from files as a tree of nlohmann's values, for documents of a bounded depth that are small beside what they describe. Its own trees end
// the program where their destructors find no memory, since these allocate; this one is taken apart without.
#pragma once

#include "storage/encodings/json_cursor.hpp"

#include <troupe/error.hpp>

#include <nlohmann/json.hpp>

#include <new>
#include <type_traits>

namespace troupe {

class json_tree {
 public:
  /// Not of the kind that keeps the order of members: it copies trees as it grows, and destroys the copies.
  using value = nlohmann::json;

  /// Of a text in which `find_flaw` finds nothing. Throws nlohmann's exceptions, as for a number that no double holds, and std::bad_alloc.
  explicit json_tree(std::string_view text);
  const value& root() const noexcept { return held_.root; }

 private:
  /// A member, so that what has been built goes by its destructor when the constructor above throws.
  struct holder {
    value root = nullptr;

    holder() = default;
    holder(const holder&) = delete;
    holder& operator=(const holder&) = delete;
    ~holder();
  };
  holder held_;
};

/// An integer of 64 bits. Throws nlohmann's exception where it is anything else: `get` would make one of a number that none can hold, 1e30.
int64_t integer_of(const json_tree::value& j);

/// `read` of the tree of `text`, which a file has. data_loss, also where `read` throws one of nlohmann's exceptions: "<file>it is no JSON at byte
/// 7"; resource_exhausted. `file` is "a/b.json: ".
template <class Read>
auto read_json(std::string_view text, const std::string& file, Read read) -> std::invoke_result_t<Read, const json_tree::value&> {
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
