// Describes exported models, as lines for people and as JSON.
#include "inspection/tables.hpp"
#include "storage/encodings/base64.hpp"
#include "storage/encodings/crc32c.hpp"

#include <troupe/inspect.hpp>

#include <nlohmann/json.hpp>

namespace troupe {

namespace {

using json = nlohmann::ordered_json;

json to_list(const std::vector<export_description::value>& values) {
  auto all = json::array();
  for (const auto& v : values)
    all.push_back({{"name", v.name}, {"dtype", v.dtype}, {"shape", v.shape}});
  return all;
}

}  // namespace

std::string to_text(const export_description& r) {
  std::string text = printable(r.path) + ": an exported model";
  text += (r.model.empty() ? "" : ", '" + printable(r.model) + "' of step " + std::to_string(r.global_step)) + "\n";
  if (!r.checkpoint.empty())
    text += "  from " + printable(r.checkpoint) + "\n";
  text += "  " + bytes_text(r.bytes) + " in " + std::to_string(r.files.size()) + " files, "
          + (r.damages.empty() ? "whole (every byte read)" : "damaged") + "\n";
  text += damages_text(r.damages, "  ");
  if (!r.remark.empty())
    text += "  warning: " + printable(r.remark) + "\n";
  if (!r.evaluation.empty())
    text += "  evaluated: "
            + joined(r.evaluation, ", ", [](const auto& m) { return printable(m.first) + " " + number_text(m.second); })
            + "\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& s : r.signatures) {
    text += "signature " + printable(s.name) + "\n";
    rows.clear();
    for (const auto& v : s.inputs)
      rows.push_back({"takes", printable(v.name), v.dtype, v.shape});
    for (const auto& v : s.outputs)
      rows.push_back({"yields", printable(v.name), v.dtype, v.shape});
    text += table(rows, "  ");
  }
  for (const auto& [name, count] : r.words)
    text += printable(name) + ": " + std::to_string(count) + " words\n";
  text += std::to_string(r.nodes) + " nodes, " + std::to_string(r.parameters) + " parameters\n";
  rows.clear();
  for (const auto& t : r.tensors)
    rows.push_back({printable(t.name), t.dtype, shape_text(t.shape), std::to_string(t.bytes) + " bytes"});
  return text + table(rows, "  ", {3});
}

std::string to_json(const export_description& r) {
  json j{{"kind", "export"},           {"path", r.path},
         {"model", r.model},           {"global_step", r.global_step},
         {"checkpoint", r.checkpoint}, {"bytes", r.bytes},
         {"files", r.files},           {"whole", r.damages.empty()},
         {"nodes", r.nodes},           {"parameters", r.parameters}};
  j["evaluation"] = json::object();
  for (const auto& [name, value] : r.evaluation)
    j["evaluation"][name] = value;
  j["damages"] = json::array();
  for (const auto& d : r.damages)
    j["damages"].push_back({{"file", d.file}, {"reason", d.reason}});
  if (!r.remark.empty())
    j["remark"] = r.remark;
  j["signatures"] = json::object();
  for (const auto& s : r.signatures)
    j["signatures"][s.name] = {{"inputs", to_list(s.inputs)}, {"outputs", to_list(s.outputs)}};
  j["words"] = json::object();
  for (const auto& [name, count] : r.words)
    j["words"][name] = count;
  j["tensors"] = json::array();
  for (const auto& t : r.tensors) {
    json one{{"name", t.name},
             {"dtype", t.dtype},
             {"shape", t.shape},
             {"bytes", t.bytes},
             {"crc32c", t.crc32c ? json(crc32c_text(*t.crc32c)) : json(nullptr)},
             {"file", t.file},
             {"offset", t.offset}};
    if (t.value)
      one["base64"] = to_base64(*t.value);
    j["tensors"].push_back(std::move(one));
  }
  return j.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace troupe
