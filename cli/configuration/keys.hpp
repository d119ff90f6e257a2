// Every key of a configuration file and of --set: its type, its bounds, and its purpose.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::cli {

/// The type of a value, as declared or as written.
enum class value_kind : uint8_t {
  untyped,   ///< Text of the command line, of any type.
  text,
  integer,
  natural,   ///< A key only: 64 bits without a sign.
  number,
  boolean,
  integers,  ///< "256,128", also in brackets.
  numbers,   ///< "0.1,0.01", also in brackets.
  texts,     ///< "shirt,bag".
  extents,   ///< A key only: one integer for both axes of an image, or two.
  tables,    ///< A key only: a list of tables, whose keys are "model.layers[0].type".
  table,     ///< A table without a key, possibly misspelt.
  other,     ///< A TOML type that no key takes: a date, a list of texts.
};

struct key_info {
  std::string name;
  value_kind kind = value_kind::text;
  std::string about;
  double least = -std::numeric_limits<double>::infinity();  ///< Numbers may not be less than this,
  double below = std::numeric_limits<double>::infinity();   ///< and must be less than this one.
  bool may_be_none = false;                                 ///< Accepts "none": switched off.
  std::vector<std::string> choices = {};                    ///< For texts; empty: any.
};

/// Sorted by table, in the order of the documentation. Keys of a list of tables have [] in place of [0], [1], ...
const std::vector<key_info>& known_keys();
/// "model.layers[].type" of "model.layers[12].type".
std::string without_number(std::string_view name);
/// Finds keys of a list only with a number.
const key_info* find_key(std::string_view name);
/// The keys whose part after the dot is `name`.
std::vector<std::string> keys_ending_in(std::string_view name);
/// The keys whose part before the dot is `table`.
std::vector<std::string> keys_of_table(std::string_view table);

/// Describes valid values: "a whole number of at least 1".
std::string fits(const key_info& key);
/// Whether `value`, written as `written`, can be the key's.
bool accepts(const key_info& key, std::string_view value, value_kind written);

/// The numbers of "256,128" or "[256, 128]"; empty text is an empty list.
bool parse_integers(std::string_view text, std::vector<int64_t>& into);
bool parse_numbers(std::string_view text, std::vector<double>& into);

/// The words of "shirt,bag"; empty text is an empty list.
std::vector<std::string> parse_texts(std::string_view text);

/// For --help: one line for each key.
std::string describe_keys();

}  // namespace troupe::cli
