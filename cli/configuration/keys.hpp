// Every key of a configuration file and of --set: the values that it accepts, its purpose and its default.
#pragma once

#include <troupe/options/option_field.hpp>

#include <map>
#include <span>

namespace troupe::cli {

/// How a value was written.
enum class value_kind : uint8_t {
  untyped,   ///< Text of the command line, of any type.
  text,
  integer,
  number,
  boolean,
  integers,  ///< "256,128"
  numbers,   ///< "0.1,0.01"
  texts,     ///< "shirt,bag"
  table,     ///< A table without a key, possibly misspelt.
  other,     ///< A TOML type that no key takes: a date, a list of texts.
};

struct key_info : option_values {
  std::string name;
  std::string about;
  std::string standard = {};  ///< The default as text; empty: none.
  bool tables = false;        ///< A list of tables, whose keys are "model.layers[0].type"; it has no value of its own.
  std::map<std::string, std::string, std::less<>> also = {};  ///< Other names of choices, by which they are kept: "sgd" of "gradient_descent".
};

/// Sorted by table, in the order of the documentation. Keys of a list of tables have [] in place of [0], [1], ...
const std::vector<key_info>& known_keys();
/// The table of a field of train_spec: "input." for the epochs, else "run.".
std::string_view prefix_of_training(std::string_view field);
/// "model.layers[].type" of "model.layers[12].type"; "evaluate.name" of "evaluate[1].name", as [[evaluate]] may be one table as well.
std::string without_number(std::string_view name);
/// Finds keys of a list only with a number. A key of [evaluate] is also found as that of one of [[evaluate]]: "evaluate[1].name".
const key_info* find_key(std::string_view name);
/// The keys whose part after the dot is `name`.
std::vector<std::string> keys_ending_in(std::string_view name);
/// The keys whose part before the dot is `table`.
std::vector<std::string> keys_of_table(std::string_view table);

/// Describes valid values: "a whole number of at least 1".
std::string fits(const key_info& key);
/// The choice of which `value` is another name; else the value itself.
std::string_view real_name(const key_info& key, std::string_view value);
/// Whether `value`, written as `written`, can be the key's.
bool accepts(const key_info& key, std::string_view value, value_kind written);

/// "copies of the model that share the work [1]"
std::string help_of(const key_info& key);
/// A table of the configuration, and its purpose.
struct key_table {
  std::string_view name;
  std::string_view about;
};
/// In the order of the keys.
std::span<const key_table> key_tables();
/// For --help: the table, and a line for each key of it.
std::string describe_keys(const key_table& table);

}  // namespace troupe::cli
