#include "storage/exports/export_json.hpp"

#include "storage/encodings/crc32c.hpp"
#include "storage/exports/json_fields.hpp"

#include <limits>
#include <set>

namespace troupe {

namespace {

using namespace export_fields;
using export_fields::as_json;

constexpr std::string_view graph_format = "troupe graph", signature_format = "troupe signatures",
                           preparation_format = "troupe preparation", best_format = "troupe best export";
constexpr int64_t best_version = 1;  // It is not part of an export and has its own version.
constexpr int64_t most = std::numeric_limits<int64_t>::max();
/// The most unknowns of a graph. Each extent is looked for among all of them; models have one, "batch", or a few.
constexpr size_t unknowns_max = 256;

/// Calls `read` with the JSON value of a file. Damage that `read` finds becomes the error data_loss of the file.
template <class Read>
auto reading(std::string_view text, const std::string& path, std::string_view format, int64_t newest, Read read) {
  return read_json(text, path + ": ", [&](const tree& j) -> expected<std::invoke_result_t<Read, const tree&>> {
    if (auto right = check_format(j, path, format, newest); !right)
      return fail(std::move(right.error()));
    try {
      return read(j);
    } catch (const damage_found& d) {
      return fail(errc::data_loss, path + ": " + d.what);
    }
  });
}

// -- nodes ---------------------------------------------------------------------------

json as_json(const stored_value& v, const std::vector<std::string>& unknowns) {
  return std::visit(
      [&]<class T>(const T& x) -> json {
        if constexpr (std::is_same_v<T, symbol_shape>)
          return export_fields::as_json(x, unknowns);
        else
          return x;
      },
      v);
}

stored_value value_in(const tree& j, const std::vector<std::string>& unknowns, const std::string& where) {
  if (j.is_boolean())
    return j.get<bool>();
  if (j.is_string())
    return j.get<std::string>();
  if (j.is_number_float())
    return j.get<double>();
  if (j.is_number_integer())
    return integer_in(j, where, std::numeric_limits<int64_t>::min(), most);
  if (!j.is_array())
    throw damage_found{where + " is of no kind that an attribute can have"};
  for (const auto& e : j)
    if (e.is_string())
      return shape_in(j, unknowns, where);
  std::vector<int64_t> list;
  for (const auto& e : j)
    list.push_back(integer_in(e, where, std::numeric_limits<int64_t>::min(), most));
  return list;
}

json as_json(const stored_node& n, const std::vector<std::string>& unknowns) {
  json j{{"name", n.name},
         {"operation", n.operation},
         {"inputs", n.inputs},
         {"dtype", to_string(n.type)},
         {"shape", as_json(n.dims, unknowns)}};
  j["attributes"] = json::object();
  for (const auto& [name, value] : n.attributes)
    j["attributes"][name] = as_json(value, unknowns);
  return j;
}

stored_node node_in(const tree& j, const std::vector<std::string>& unknowns, const std::string& where) {
  require_members(j, where, {"name", "operation", "inputs", "dtype", "shape", "attributes"});
  stored_node n{.name = text_in(j["name"], where + ".name"),
                .operation = text_in(j["operation"], where + ".operation"),
                .inputs = {},
                .type = dtype_in(j["dtype"], where + ".dtype"),
                .dims = shape_in(j["shape"], unknowns, where + ".shape"),
                .attributes = {}};
  if (!j["inputs"].is_array())
    throw damage_found{where + ".inputs is not a list"};
  for (const auto& i : j["inputs"])
    n.inputs.push_back(static_cast<int32_t>(integer_in(i, where + ".inputs", 0, std::numeric_limits<int32_t>::max())));
  if (!j["attributes"].is_object())
    throw damage_found{where + ".attributes is not an object"};
  for (const auto& [name, value] : j["attributes"].items())
    n.attributes[name] = value_in(value, unknowns, where + "." + name);
  return n;
}

export_origin origin_in(const tree& j) {
  require_members(j, "origin", {"model", "global_step", "checkpoint", "evaluation"});
  return {.model = text_in(j["model"], "origin.model"),
          .global_step = integer_in(j["global_step"], "origin.global_step", 0, most),
          .checkpoint = text_in(j["checkpoint"], "origin.checkpoint"),
          .evaluation = numbers_in(j["evaluation"], "origin.evaluation")};
}

uint32_t checksum_in(const tree& j, const std::string& where) {
  const auto text = text_in(j, where);
  const auto crc = parse_crc32c(text);
  if (!crc)
    throw damage_found{where + " is not a checksum: '" + text + "'"};
  return *crc;
}

/// The names of unknowns, which extents like "3*batch" refer to.
std::vector<std::string> unknowns_in(const tree& j) {
  if (j.is_array() && j.size() > unknowns_max)
    throw damage_found{"unknowns are " + std::to_string(j.size()) + ", and " + std::to_string(unknowns_max)
                       + " is the most"};
  auto unknowns = texts_in(j, "unknowns");
  std::set<std::string_view> names;
  for (const auto& name : unknowns)
    if (name.empty() || name.find('*') != std::string::npos || !names.insert(name).second)
      throw damage_found{"the unknown '" + name + "' cannot have that name, or is there twice"};
  return unknowns;
}

graph_file graph_in(const tree& j) {
  require_members(j, "it", {"format", "format_version", "origin", "unknowns", "nodes", "checksums"});
  graph_file f{.origin = origin_in(j["origin"]),
               .graph = {.unknowns = unknowns_in(j["unknowns"]), .nodes = {}},
               .checksums = {},
               .format_version = integer_in(j["format_version"], "format_version", std::numeric_limits<int64_t>::min(),
                                            std::numeric_limits<int64_t>::max())};
  const auto& unknowns = f.graph.unknowns;
  if (!j["nodes"].is_array() || !j["checksums"].is_object())
    throw damage_found{"nodes are not a list, or checksums not an object"};
  for (const auto& n : j["nodes"])
    f.graph.nodes.push_back(node_in(n, unknowns, "nodes[" + std::to_string(f.graph.nodes.size()) + "]"));
  for (const auto& [name, crc] : j["checksums"].items())
    f.checksums[name] = checksum_in(crc, "checksums." + name);
  return f;
}

// -- signatures ----------------------------------------------------------------------

using values = std::map<std::string, stored_signature::value>;

json as_json(const values& all, const std::vector<std::string>& unknowns) {
  auto j = json::object();
  for (const auto& [name, v] : all)
    j[name] = {{"node", v.node}, {"dtype", to_string(v.type)}, {"shape", as_json(v.dims, unknowns)}};
  return j;
}

values values_in(const tree& j, const std::vector<std::string>& unknowns, const std::string& where) {
  if (!j.is_object())
    throw damage_found{where + " is not an object"};
  values all;
  for (const auto& [name, v] : j.items()) {
    const std::string at = where + "." + name;
    require_members(v, at, {"node", "dtype", "shape"});
    all[name] = {static_cast<int32_t>(integer_in(v["node"], at, 0, std::numeric_limits<int32_t>::max())),
                 dtype_in(v["dtype"], at), shape_in(v["shape"], unknowns, at)};
  }
  return all;
}

stored_signatures signatures_in(const tree& j, const std::vector<std::string>& unknowns) {
  require_members(j, "it", {"format", "format_version", "signatures"});
  if (!j["signatures"].is_object())
    throw damage_found{"signatures are not an object"};
  stored_signatures all;
  for (const auto& [name, s] : j["signatures"].items()) {
    require_members(s, name, {"inputs", "outputs"});
    all[name] = {values_in(s["inputs"], unknowns, name + ".inputs"),
                 values_in(s["outputs"], unknowns, name + ".outputs")};
  }
  return all;
}

// -- preparation ---------------------------------------------------------------------

stored_preparation preparation_in(const tree& j) {
  require_members(j, "it", {"format", "format_version", "labels", "predictions"});
  if (!j["labels"].is_object() || !j["predictions"].is_object())
    throw damage_found{"labels or predictions are not an object"};
  stored_preparation p;
  for (const auto& [name, words] : j["labels"].items())
    p.labels[name] = texts_in(words, "labels." + name);
  for (const auto& [name, of] : j["predictions"].items()) {
    require_members(of, "predictions." + name, {"of", "words"});
    p.predictions[name] = {text_in(of["of"], "predictions." + name), texts_in(of["words"], "predictions." + name)};
  }
  return p;
}

}  // namespace

expected<std::string> write_graph_json(const graph_file& f) {
  if (f.graph.unknowns.size() > unknowns_max)
    return fail(errc::invalid_argument, "the graph has " + std::to_string(f.graph.unknowns.size()) + " unknowns, and "
                                            + std::to_string(unknowns_max) + " is the most that an export can have");
  auto j = begin_file(graph_format, f.format_version);
  j["origin"] = {{"model", f.origin.model},
                 {"global_step", f.origin.global_step},
                 {"checkpoint", f.origin.checkpoint},
                 {"evaluation", as_json(f.origin.evaluation)}};
  j["unknowns"] = f.graph.unknowns;
  j["nodes"] = json::array();
  for (const auto& n : f.graph.nodes)
    j["nodes"].push_back(as_json(n, f.graph.unknowns));
  j["checksums"] = json::object();
  for (const auto& [name, crc] : f.checksums)
    j["checksums"][name] = crc32c_text(crc);
  return dump_file(j, "graph.json");
}

expected<graph_file> parse_graph_json(std::string_view text, const std::string& path) {
  return reading(text, path, graph_format, format_version, graph_in);
}

expected<std::string> write_signature_json(const stored_signatures& signatures,
                                           const std::vector<std::string>& unknowns) {
  auto j = begin_file(signature_format);
  j["signatures"] = json::object();
  for (const auto& [name, s] : signatures)
    j["signatures"][name] = {{"inputs", as_json(s.inputs, unknowns)}, {"outputs", as_json(s.outputs, unknowns)}};
  return dump_file(j, "signature.json");
}

expected<stored_signatures> parse_signature_json(std::string_view text, const std::vector<std::string>& unknowns,
                                                 const std::string& path) {
  return reading(text, path, signature_format, format_version,
                 [&](const tree& j) { return signatures_in(j, unknowns); });
}

expected<std::string> write_preparation_json(const stored_preparation& p) {
  auto j = begin_file(preparation_format);
  j["labels"] = json::object();
  for (const auto& [name, words] : p.labels)
    j["labels"][name] = words;
  j["predictions"] = json::object();
  for (const auto& [name, of] : p.predictions)
    j["predictions"][name] = {{"of", of.of}, {"words", of.words}};
  return dump_file(j, "preparation.json");
}

expected<stored_preparation> parse_preparation_json(std::string_view text, const std::string& path) {
  return reading(text, path, preparation_format, format_version, preparation_in);
}

expected<std::string> write_best_json(const best_evaluation& best) {
  auto j = begin_file(best_format, best_version);
  j["global_step"] = best.global_step;
  j["metrics"] = as_json(best.metrics);
  return dump_file(j, "best.json");
}

expected<best_evaluation> parse_best_json(std::string_view text, const std::string& path) {
  return reading(text, path, best_format, best_version, [](const tree& j) {
    require_members(j, "it", {"format", "format_version", "global_step", "metrics"});
    return best_evaluation{integer_in(j["global_step"], "global_step", 0, most), numbers_in(j["metrics"], "metrics")};
  });
}

}  // namespace troupe
