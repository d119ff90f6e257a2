#include "storage/encodings/listed_files.hpp"

#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/json_tree.hpp"
#include "storage/encodings/safetensors.hpp"

#include <nlohmann/json.hpp>

namespace troupe {

nlohmann::ordered_json to_json(const listed_file& f) {
  return {{"name", f.name},
          {"bytes", f.bytes},
          {"header_bytes", f.header_bytes},
          {"header_crc32c", crc32c_text(f.header_crc32c)}};
}

std::optional<listed_file> parse_listed_file(const nlohmann::json& j) {
  listed_file f{j.at("name").get<std::string>(), integer_of(j.at("bytes")), integer_of(j.at("header_bytes")), 0};
  const auto crc = parse_crc32c(j.at("header_crc32c").get<std::string>());
  if (!crc || f.header_bytes < 0 || f.bytes < f.header_bytes)
    return {};
  f.header_crc32c = *crc;
  return f;
}

expected<std::unique_ptr<readable_file>> open_listed_file(file_system& fs, const std::string& directory,
                                                          const listed_file& f) {
  const std::string path = join_path(directory, f.name);
  auto file = fs.open(path);
  if (!file && file.error().category == errc::not_found)
    return fail(errc::data_loss, path + " is missing");
  if (!file)
    return file;
  if ((*file)->size() != f.bytes)
    return fail(errc::data_loss,
                path + " has " + std::to_string((*file)->size()) + " bytes and should have " + std::to_string(f.bytes));
  const auto crc = checksum_tensor(**file, path, {.name = "(header)", .offset = 0, .bytes = f.header_bytes});
  if (!crc)
    return fail(crc.error());
  if (*crc != f.header_crc32c)
    return fail(errc::data_loss, path + ": " + (f.header_bytes == f.bytes ? "the file" : "the header at offset 0")
                                     + " has the checksum " + crc32c_text(*crc) + " and should have "
                                     + crc32c_text(f.header_crc32c));
  return file;
}

}  // namespace troupe
