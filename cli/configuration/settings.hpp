// Settings: the keys of a file, of --set and of flags in one map. A flag overrides --set, and both override the file.
#pragma once

#include "cli/configuration/keys.hpp"

#include <troupe/error.hpp>

#include <map>

namespace troupe::cli {

/// One `key = value` as given.
struct assignment {
  std::string key;
  std::string value;  ///< As text, lists as "256,128".
  std::string origin; ///< For messages: "fashion.toml:12", "--set", "--max-steps".
  value_kind written = value_kind::untyped;
};

/// In rising order of precedence.
enum class precedence : uint8_t { file, set, flag };

class settings {
 public:
  /// invalid_argument: unknown keys, ambiguous short ones, invalid values. Reports all of them: the first is the
  /// message, the others are its notes.
  static expected<settings> merge(const std::vector<assignment>& file, const std::vector<assignment>& set,
                                  const std::vector<assignment>& flags);

  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// Absent if the key was not given; "none" if that was given. The key's kind must be the function's.
  std::optional<std::string> text(std::string_view key) const;
  std::optional<int64_t> integer(std::string_view key) const;
  std::optional<uint64_t> natural(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::vector<int64_t> integers(std::string_view key) const;
  std::vector<double> numbers(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;

  /// The given keys that begin with `beginning`, in time proportional to their number.
  std::vector<std::string> keys_beginning(std::string_view beginning) const;
  /// The given keys of a list of tables: for "model.layers" such as "model.layers[0].type".
  std::vector<std::string> keys_of_list(std::string_view list) const;
  /// One more than the greatest number among these keys.
  int64_t size_of_list(std::string_view list) const;

  /// Absent if the key was not given.
  std::optional<precedence> precedence_of(std::string_view key) const;
  /// "fashion.toml:12: " where the key was given.
  std::string origin(std::string_view key) const;

 private:
  struct entry {
    assignment given;
    precedence from;
  };
  const entry* find(std::string_view key) const;

  std::map<std::string, entry, std::less<>> entries_;
};

/// Parses the text of --set: invalid_argument unless it is `key=value`.
expected<assignment> parse_assignment(std::string_view text);

}  // namespace troupe::cli
