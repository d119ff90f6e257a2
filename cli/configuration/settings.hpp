// Settings: the keys of a file, of --set and of flags in one map. A flag overrides --set, and both override the file.
#pragma once

#include "cli/configuration/keys.hpp"

#include <troupe/error.hpp>

#include <map>

namespace troupe::cli {

/// One `key = value` as it was given.
struct assignment {
  std::string key;
  std::string value;   ///< As text; a list as "256,128".
  std::string origin;  ///< For messages: "fashion.toml:12", "--set", "--max-steps".
  value_kind written = value_kind::untyped;
};

/// In ascending order of precedence.
enum class precedence : uint8_t { file, set, flag };

class settings {
 public:
  /// invalid_argument: unknown keys, ambiguous short keys, invalid values. Reports up to 20 of them and the number of
  /// the others: the first is the message, the rest are its notes.
  static expected<settings> merge(const std::vector<assignment>& file, const std::vector<assignment>& set,
                                  const std::vector<assignment>& flags);

  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// The value as it was given; absent if the key was not.
  std::optional<std::string> text(std::string_view key) const;
  /// The value in the key's type; also absent for "none".
  template <class T>
  std::optional<T> get(std::string_view key) const {
    T value{};
    return parse(key, value) ? std::optional{std::move(value)} : std::nullopt;
  }
  /// Reads a key into `into`, which keeps its value if the key was not given; returns whether it was. `merge` has
  /// checked that the value fits the key. The resulting value is recorded for `resolved`.
  template <class T>
  [[gnu::noinline]] bool read(std::string_view key, T& into) const {
    const bool given = parse(key, into);
    settle(key, option_text(into));
    return given;
  }
  /// Reads every field of a struct: the key is `prefix` and the field's name.
  template <class Options>
  void read_fields(const std::string& prefix, Options& into) const {
    each_field(into, [&](const field_row& field, auto& value) { read(prefix + std::string{field.name}, value); });
  }

  /// The given keys that begin with `beginning`, in time proportional to their number.
  std::vector<std::string> keys_beginning(std::string_view beginning) const;
  /// The given keys of a list of tables: for "model.layers" such as "model.layers[0].type".
  std::vector<std::string> keys_of_list(std::string_view list) const;
  /// One more than the greatest number among the keys of the list; 0 if there are none.
  int64_t size_of_list(std::string_view list) const;

  /// The keys that were given, with their values as text.
  std::map<std::string, std::string> given() const;
  /// Like `given`, with the values that `read` and `settle` have recorded, defaults included. Complete once a job was
  /// set up.
  std::map<std::string, std::string> resolved() const;
  /// Records the value of a key that is not read by `read`. The first value recorded for a key counts.
  void settle(std::string_view key, std::string text) const;

  /// Absent if the key was not given.
  std::optional<precedence> precedence_of(std::string_view key) const;
  /// "fashion.toml:12: ", where the key was given; empty if it was not.
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

/// Parses the argument of --set; invalid_argument unless it is `key=value`.
expected<assignment> parse_assignment(std::string_view text);

/// The error for a required key; `hint` says how to give it.
tl::unexpected<error> missing_key(std::string_view key, std::string_view hint);

}  // namespace troupe::cli
