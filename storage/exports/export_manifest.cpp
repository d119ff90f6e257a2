#include "storage/exports/export_manifest.hpp"

#include "storage/encodings/json_tree.hpp"
#include "storage/encodings/sealed_text.hpp"
#include "storage/exports/json_fields.hpp"

namespace troupe {

namespace {

using export_fields::json;

constexpr std::string_view export_format = "troupe export", export_crc_member = "manifest_crc32c";

}  // namespace

std::string write_export_manifest(const std::vector<listed_file>& files) {
  auto j = export_fields::begin_file(export_format);
  j["files"] = json::array();
  for (const auto& f : files)
    j["files"].push_back(to_json(f));
  j[std::string{export_crc_member}] = unsealed;
  return seal(j.dump(1) + "\n");
}

expected<std::vector<listed_file>> parse_export_manifest(std::string text, const std::string& path) {
  const auto damaged = [&](const std::string& what) { return fail(errc::data_loss, path + ": " + what); };
  if (const auto whole = unseal(text, export_crc_member); !whole)
    return damaged(whole.error().message);
  // The checksum is right, so from here on only a defect of the writer or a later version can cause an error.
  return read_json(text, path + ": ", [&](const json_tree::value& j) -> expected<std::vector<listed_file>> {
    if (j.at("format") != export_format)
      return damaged("it is not a " + std::string{export_format});
    if (const auto version = integer_of(j.at("format_version")); version != export_fields::format_version)
      return fail(errc::unimplemented, path + ": format version " + std::to_string(version)
                                           + ", and this program reads "
                                           + std::to_string(export_fields::format_version));
    std::vector<listed_file> files;
    for (const auto& entry : j.at("files")) {
      auto f = parse_listed_file(entry);
      if (!f)
        return damaged("the file " + entry.at("name").get<std::string>() + " has an impossible size or checksum");
      files.push_back(std::move(*f));
    }
    return files;
  });
}

}  // namespace troupe
