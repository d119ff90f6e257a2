// Reads and writes the members of JSON objects in an export. An object must have exactly the expected members.
#pragma once

#include "storage/encodings/json_tree.hpp"

#include <troupe/graph.hpp>

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <map>

namespace troupe::export_fields {

using json = nlohmann::ordered_json;  ///< For writing.
using tree = json_tree::value;        ///< For reading.

/// Thrown by parsers, only within storage/exports/. `what` becomes the text of a data_loss.
struct damage_found {
  std::string what;
};

/// The version that is written. Version 1 has the same files, without the manifest.
inline constexpr int64_t format_version = 2;
/// Checks that `j` is an object that begins with `format` and a version from 1 to `newest`. Errors: data_loss;
/// unimplemented for a later version.
expected<void> check_format(const tree& j, const std::string& path, std::string_view format,
                            int64_t newest = format_version);
/// An object with the first two members of a file.
json begin_file(std::string_view format, int64_t version = format_version);
/// The text of a file: one line for each member. Error: invalid_argument if a text is not UTF-8.
expected<std::string> dump_file(const json& j, const std::string& file);

// The functions below throw damage_found naming `where`.

/// Throws if an object has a member that is not in `names`, or lacks one of them.
void require_members(const tree& j, const std::string& where, std::initializer_list<std::string_view> names);
std::string text_in(const tree& j, const std::string& where);
int64_t integer_in(const tree& j, const std::string& where, int64_t least, int64_t most);
std::vector<std::string> texts_in(const tree& j, const std::string& where);
dtype dtype_in(const tree& j, const std::string& where);

/// JSON has no such numbers, so "inf", "-inf" and "nan" are written as texts.
json as_json(double x);
double number_in(const tree& j, const std::string& where);
json as_json(const std::map<std::string, double>& numbers);
std::map<std::string, double> numbers_in(const tree& j, const std::string& where);

/// A shape as JSON: [128, "batch", "3*batch"].
json as_json(const symbol_shape& dims, const std::vector<std::string>& unknowns);
symbol_shape shape_in(const tree& j, const std::vector<std::string>& unknowns, const std::string& where);

}  // namespace troupe::export_fields
