// Members of JSON objects as the files of an export have them: all of those that are expected, and no others.
#pragma once

#include "storage/encodings/json_tree.hpp"

#include <troupe/graph.hpp>

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <map>

namespace troupe::export_fields {

using json = nlohmann::ordered_json;  ///< What is written.
using tree = json_tree::value;         ///< What is read.

/// What a parser throws, within storage/exports/ alone: the text of a data_loss.
struct damage_found {
  std::string what;
};

/// What this program writes. The first version had no manifest, and the same files otherwise.
inline constexpr int64_t format_version = 2;
/// Whether `j` is an object that begins with `format` and a version from 1 to `newest`: data_loss, unimplemented for a later version.
expected<void> check_format(const tree& j, const std::string& path, std::string_view format, int64_t newest = format_version);
/// The first two members of a file.
json begin_file(std::string_view format, int64_t version = format_version);
/// One line a member. invalid_argument: a text is not UTF-8.
expected<std::string> dump_file(const json& j, const std::string& file);

// The rest throws damage_found, naming `where`.

/// Refuses any member beside `names`, and an object without one of them.
void require_members(const tree& j, const std::string& where, std::initializer_list<std::string_view> names);
std::string text_in(const tree& j, const std::string& where);
int64_t integer_in(const tree& j, const std::string& where, int64_t least, int64_t most);
std::vector<std::string> texts_in(const tree& j, const std::string& where);
dtype dtype_in(const tree& j, const std::string& where);

/// Numbers that JSON does not have are "inf", "-inf" and "nan".
json as_json(double x);
double number_in(const tree& j, const std::string& where);
json as_json(const std::map<std::string, double>& numbers);
std::map<std::string, double> numbers_in(const tree& j, const std::string& where);

/// [128, "batch", "3*batch"]
json as_json(const symbol_shape& dims, const std::vector<std::string>& unknowns);
symbol_shape shape_in(const tree& j, const std::vector<std::string>& unknowns, const std::string& where);

}  // namespace troupe::export_fields
