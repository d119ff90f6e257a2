// Every key of a configuration file and of --set: the values that it accepts, its purpose and its default.
#pragma once

#include <troupe/options/option_field.hpp>

#include <map>
#include <span>

namespace troupe::cli {

/// How a value was written.
enum class value_kind : uint8_t {
  untyped,  ///< Text from the command line, for any type.
  text,
  integer,
  number,
  boolean,
  integers,  ///< Such as "256,128".
  numbers,   ///< Such as "0.1,0.01".
  texts,     ///< Such as "shirt,bag".
  table,     ///< A table without keys, whose name may be misspelt.
  other,     ///< A TOML type that fits no key: a date, a list of texts.
};

struct key_info : option_values {
  std::string name;
  std::string about;
  std::string standard = {};  ///< The default as text; empty: none.
  /// A list of tables with keys such as "model.layers[0].type". It has no value of its own.
  bool tables = false;
  /// Other names of choices and the names by which they are kept: "sgd" for "gradient_descent".
  std::map<std::string, std::string, std::less<>> also = {};
};

/// All keys by table, in the order of the documentation. Keys of a list of tables have [] in place of [0], [1], ...
const std::vector<key_info>& known_keys();
/// The table of a field of train_spec: "input." for the epochs, otherwise "run.".
std::string_view prefix_of_training(std::string_view field);
/// "model.layers[].type" for "model.layers[12].type". "evaluate.name" for "evaluate[1].name", because [[evaluate]] may
/// also be a single table.
std::string without_number(std::string_view name);
/// Keys of a list are found only with a number. A key of [evaluate] is also found with one: "evaluate[1].name".
const key_info* find_key(std::string_view name);
/// The keys whose part after the dot is `name`.
std::vector<std::string> keys_ending_in(std::string_view name);
/// The keys that begin with `table` and a dot: "search.choose.by" for "search.choose" and for "search".
std::vector<std::string> keys_of_table(std::string_view table);

/// Describes the valid values: "a whole number of at least 1".
std::string fits(const key_info& key);
/// The choice for which `value` is another name; otherwise `value` itself.
std::string_view real_name(const key_info& key, std::string_view value);
/// Whether the key accepts `value` as it was written.
bool accepts(const key_info& key, std::string_view value, value_kind written);

/// The purpose and the default: "copies of the model that share the work [1]".
std::string help_of(const key_info& key);
/// A table of the configuration, and its purpose.
struct key_table {
  std::string_view name;
  std::string_view about;
};
/// All tables, in the order of the keys.
std::span<const key_table> key_tables();
/// The text for --help: the table, then one line for each of its keys.
std::string describe_keys(const key_table& table);

}  // namespace troupe::cli
