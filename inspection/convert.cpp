// Converts checkpoints on disk, and reports on the conversions.
#include "inspection/tables.hpp"
#include "storage/archives/conversion.hpp"

#include <troupe/convert.hpp>

#include <nlohmann/json.hpp>

#include <chrono>

namespace troupe {

expected<conversion_result> convert_checkpoint(const std::string& from, const std::string& to,
                                               const convert_options& options) {
  const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return convert_archive(posix_file_system(), from, to, options, now);
}

std::string to_text(const conversion_result& r) {
  const auto place = [](const std::string& path, checkpoint_format format) {
    return printable(path) + " (" + std::string{to_string(format)} + ")";
  };
  int64_t bytes = 0;
  std::vector<std::vector<std::string>> rows;
  for (const auto& t : r.tensors) {
    bytes += t.bytes;
    rows.push_back({printable(t.name), t.dtype, shape_text(t.shape),
                    t.made           ? "made"
                    : t.from.empty() ? ""
                                     : "from " + printable(t.from)});
  }
  std::string text = place(r.from, r.from_format) + ", step " + std::to_string(r.step) + ", to "
                     + place(r.to, r.to_format) + "\n";
  text += std::to_string(r.tensors.size()) + (r.tensors.size() == 1 ? " tensor, " : " tensors, ") + bytes_text(bytes)
          + "\n" + table(rows, "  ");
  for (const auto& l : r.left)
    text += "left out: " + printable(l.name) + ": " + printable(l.reason) + "\n";
  return text;
}

std::string to_json(const conversion_result& r) {
  using json = nlohmann::ordered_json;
  json tensors = json::array(), left = json::array();
  for (const auto& t : r.tensors) {
    tensors.push_back({{"name", t.name}, {"dtype", t.dtype}, {"shape", t.shape}, {"bytes", t.bytes}, {"made", t.made}});
    if (!t.from.empty())
      tensors.back()["from"] = t.from;
  }
  for (const auto& l : r.left)
    left.push_back({{"name", l.name}, {"reason", l.reason}});
  const json j{{"kind", "conversion"},
               {"from", r.from},
               {"from_format", to_string(r.from_format)},
               {"to", r.to},
               {"to_format", to_string(r.to_format)},
               {"step", r.step},
               {"tensors", tensors},
               {"left", left}};
  return j.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace troupe
