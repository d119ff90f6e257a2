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
  /// The value as it was given; absent if the key was not.
  std::optional<std::string> text(std::string_view key) const;
  /// The same in the key's type; also absent for "none".
  template <class T>
  std::optional<T> get(std::string_view key) const {
    T value{};
    return parse(key, value) ? std::optional{std::move(value)} : std::nullopt;
  }
  /// Whether the key was given, and put into `into`, which otherwise keeps its default. `merge` has checked that the value
  /// fits the key. The key has had a say, with what `into` has now.
  template <class T>
  [[gnu::noinline]] bool read(std::string_view key, T& into) const {
    const bool given = parse(key, into);
    settle(key, option_text(into));
    return given;
  }
  /// Every field of a struct whose key was given: `prefix` and its name.
  template <class Options>
  void read_fields(const std::string& prefix, Options& into) const {
    each_field(into, [&](const field_row& field, auto& value) { read(prefix + std::string{field.name}, value); });
  }

  /// The given keys that begin with `beginning`, in time proportional to their number.
  std::vector<std::string> keys_beginning(std::string_view beginning) const;
  /// The given keys of a list of tables: for "model.layers" such as "model.layers[0].type".
  std::vector<std::string> keys_of_list(std::string_view list) const;
  /// One more than the greatest number among these keys.
  int64_t size_of_list(std::string_view list) const;

  /// The keys that were given, with their values as text.
  std::map<std::string, std::string> given() const;
  /// The same with the defaults of those that `read` has asked for: complete once a job was set up.
  std::map<std::string, std::string> resolved() const;
  /// Says what a key means that is read in another way than by `read`; the first say counts.
  void settle(std::string_view key, std::string text) const;

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
  template <class T>
  bool parse(std::string_view key, T& into) const {
    const auto given = text(key);
    return given && parse_option(*given, into);
  }

  std::map<std::string, entry, std::less<>> entries_;
  mutable std::map<std::string, std::string, std::less<>> resolved_;
};

/// Parses the text of --set: invalid_argument unless it is `key=value`.
expected<assignment> parse_assignment(std::string_view text);

/// The error of a key that has to be given; `hint` says how.
tl::unexpected<error> missing_key(std::string_view key, std::string_view hint);

}  // namespace troupe::cli
