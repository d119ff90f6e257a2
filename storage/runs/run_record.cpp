#include "storage/runs/run_record.hpp"

#include "storage/encodings/json_tree.hpp"
#include "storage/encodings/sealed_text.hpp"
#include "storage/encodings/utf8.hpp"

#include <nlohmann/json.hpp>

namespace troupe {

namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view record_format = "troupe run";
constexpr int64_t record_version = 1;
constexpr std::string_view record_crc_member = "crc32c";

json object_of(const std::map<std::string, std::string>& texts) {
  json o = json::object();
  for (const auto& [name, text] : texts)
    o[as_utf8(name)] = as_utf8(text);
  return o;
}

std::map<std::string, std::string> texts_of(const json_tree::value& o) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, text] : o.items())
    texts.emplace(name, text.get<std::string>());
  return texts;
}

tl::unexpected<error> damaged_record(const std::string& path, const std::string& what) {
  return fail(errc::data_loss, path + " is damaged: " + what);
}

}  // namespace

std::string run_record_text(const run_record& record) {
  json j{{"format", record_format},
         {"format_version", record_version},
         {"wall_time", record.wall_time},
         {"command", json::array()},
         {"directory", as_utf8(record.directory)},
         {"versions", object_of(record.versions)},
         {"settings", object_of(record.settings)},
         {"resolved", object_of(record.resolved)},
         {std::string{record_crc_member}, unsealed}};
  for (const auto& argument : record.command)
    j["command"].push_back(as_utf8(argument));
  return seal(j.dump(1) + "\n");
}

expected<run_record> parse_run_record(std::string text, const std::string& path) {
  if (const auto whole = unseal(text, record_crc_member); !whole)
    return damaged_record(path, whole.error().message);
  // The checksum is right, so from here on only a defect of the writer or a later version can cause an error.
  return read_json(text, path + " is damaged: ", [&](const json_tree::value& j) -> expected<run_record> {
    if (j.at("format") != record_format)
      return damaged_record(path, "it is no " + std::string{record_format});
    if (const auto version = integer_of(j.at("format_version")); version != record_version)
      return fail(errc::unimplemented, path + ": format version " + std::to_string(version)
                                           + ", and this program reads " + std::to_string(record_version));
    return run_record{.wall_time = j.at("wall_time").get<double>(),
                      .command = j.at("command").get<std::vector<std::string>>(),
                      .directory = j.at("directory").get<std::string>(),
                      .versions = texts_of(j.at("versions")),
                      .settings = texts_of(j.at("settings")),
                      .resolved = texts_of(j.at("resolved"))};
  });
}

expected<void> write_run_record(file_system& fs, const std::string& model_dir, const run_record& record) {
  return write_file_atomically(fs, model_dir, std::string{run_record_file}, run_record_text(record));
}

expected<run_record> load_run_record(file_system& fs, const std::string& model_dir) {
  if (auto there = fs.info(model_dir); !there)
    return fail(std::move(there.error()));
  const std::string path = join_path(model_dir, run_record_file);
  auto text = read_file(fs, path);
  if (!text && text.error().category == errc::not_found)
    return fail({errc::not_found,
                 model_dir + " does not say what it was configured with: it has no " + std::string{run_record_file},
                 {"it was made by a program of its own, or by a version that kept no record"}});
  if (!text)
    return fail(std::move(text.error()));
  return parse_run_record(std::move(*text), path);
}

std::vector<setting_difference> differences(const run_record& before, const run_record& now) {
  std::map<std::string, setting_difference> found;
  for (const auto& [key, value] : before.resolved)
    found[key] = {key, value, {}};
  for (const auto& [key, value] : now.resolved) {
    found[key].key = key;
    found[key].now = value;
  }
  std::vector<setting_difference> all;
  for (auto& [key, d] : found)
    if (d.before != d.now)
      all.push_back(std::move(d));
  return all;
}

std::string to_text(const setting_difference& d) {
  if (!d.before)
    return d.key + " had no say and is " + *d.now;
  return d.key + " was " + *d.before + (d.now ? " and is " + *d.now : " and has no say");
}

}  // namespace troupe
