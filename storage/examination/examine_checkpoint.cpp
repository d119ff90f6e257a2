#include "storage/checkpoints/checkpoint_files.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/json_cursor.hpp"
#include "storage/encodings/safetensors.hpp"
#include "storage/encodings/utf8.hpp"
#include "storage/examination/damage_of.hpp"
#include "storage/examination/examination.hpp"

#include <algorithm>

namespace troupe {

namespace {

bool is_text(std::string_view bytes) {
  return is_utf8(bytes) && std::none_of(bytes.begin(), bytes.end(), [](char c) {
           return (c >= 0 && c < ' ' && c != '\n' && c != '\t') || c == 127;
         });
}

/// An open file of a checkpoint and its name.
struct opened_file {
  std::unique_ptr<readable_file> bytes;
  std::string path;
};

/// Reads a tensor as far as `options` require. If its checksum is not `wanted`, adds damage.
void examine_tensor(const opened_file& file, const tensor_place& place, std::optional<uint32_t> wanted,
                    const inspect_options& options, tensor_description& t, std::vector<damage>& damages) {
  const auto found = [&](std::string reason) {
    damages.push_back({file.path, place.name, place.offset, std::move(reason)});
  };
  if (place.offset > file.bytes->size() - place.bytes)
    return found("needs " + std::to_string(place.bytes) + " bytes, and the file ends at "
                 + std::to_string(file.bytes->size()));
  if (!options.verify && !options.values)
    return;
  expected<uint32_t> crc = 0;
  if (options.values) {
    auto read = read_tensor(*file.bytes, file.path, place);
    crc = read ? expected<uint32_t>{read->crc32c} : fail(read.error());
    if (read)
      t.value.emplace(reinterpret_cast<const char*>(read->value.data()), static_cast<size_t>(place.bytes));
  } else {
    crc = checksum_tensor(*file.bytes, file.path, place);
  }
  if (!crc)
    return damages.push_back(damage_of(crc.error(), file.path, place.name, place.offset));
  if (wanted && *crc != *wanted)
    found("has the checksum " + crc32c_text(*crc) + " and should have " + crc32c_text(*wanted));
  if (!wanted)
    t.crc32c = *crc;
}

/// Describes a shard that no manifest describes.
expected<void> add_safetensors(file_system& fs, const std::string& directory, const std::string& name,
                               const inspect_options& options, checkpoint_description& description) {
  opened_file file{nullptr, join_path(directory, name)};
  auto opened = fs.open(file.path);
  if (!opened && description.id) {  // The rest of this checkpoint can still be reported.
    description.damages.push_back(damage_of(opened.error(), file.path, "", {}));
    return {};
  }
  if (!opened)
    return fail(std::move(opened.error()));
  file.bytes = std::move(*opened);
  description.files.push_back(name);
  description.bytes += file.bytes->size();
  const auto scan = scan_safetensors(*file.bytes, file.path);
  if (!scan && scan.error().category != errc::data_loss)
    return fail(scan.error());
  if (!scan) {
    description.damages.push_back({file.path, "", 0, reason_of(scan.error(), file.path)});
    return {};
  }
  for (const auto& [key, text] : scan->metadata)
    description.properties.emplace(key, text);
  bool all_sound = true;
  for (const auto& e : scan->entries) {
    const bool known = !e.problem;
    const auto type = known ? std::string{to_string(e.place.type)} : e.type_name;
    tensor_description t{e.place.name, type, e.extents, name, e.place.offset, e.place.bytes};
    // An unsupported dtype is not damage; its bytes are not checked.
    if (e.problem && e.problem->category == errc::data_loss)
      description.damages.push_back({file.path, e.place.name, e.place.offset, reason_of(*e.problem, file.path)});
    else if (known)
      examine_tensor(file, e.place, {}, options, t, description.damages);
    all_sound = all_sound && known;
    description.tensors.push_back(std::move(t));
  }
  if (scan->problem && all_sound)
    description.damages.push_back({file.path, "", {}, reason_of(*scan->problem, file.path)});
  return {};
}

/// The offset at which a manifest stops being JSON. Absent if it is JSON: the damaged bytes cannot be located then.
std::optional<int64_t> broken_at(const std::string& text) {
  const auto flaw = find_flaw(text);
  return flaw ? std::optional{static_cast<int64_t>(flaw->at)} : std::nullopt;
}

/// Opens the files that the manifest names, by name. Adds damage for missing or different files.
std::map<std::string, opened_file> open_files(file_system& fs, const std::string& directory, const manifest& m,
                                              checkpoint_description& description) {
  std::map<std::string, opened_file> files;
  for (const auto& f : m.files) {
    const std::string path = join_path(directory, f.name);
    const auto found = [&](std::optional<int64_t> offset, std::string reason) {
      description.damages.push_back({path, "", offset, std::move(reason)});
    };
    description.files.push_back(f.name);
    auto opened = fs.open(path);
    if (!opened) {
      description.damages.push_back(damage_of(opened.error(), path, "", {}));
      continue;
    }
    const int64_t size = (*opened)->size();
    description.bytes += size;
    if (size != f.bytes)
      found(std::min(size, f.bytes),
            "has " + std::to_string(size) + " bytes and should have " + std::to_string(f.bytes));
    if (const auto crc = checksum_tensor(**opened, path, {.name = "(header)", .offset = 0, .bytes = f.header_bytes});
        !crc)
      description.damages.push_back(damage_of(crc.error(), path, "", 0));
    else if (*crc != f.header_crc32c)
      found(0, "the header has the checksum " + crc32c_text(*crc) + " and should have " + crc32c_text(f.header_crc32c));
    files.emplace(f.name, opened_file{std::move(*opened), path});
  }
  return files;
}

void add_manifest(file_system& fs, const std::string& directory, const manifest& m, const inspect_options& options,
                  checkpoint_description& description) {
  description.wall_time = m.wall_time;
  description.properties = m.properties;
  for (const auto& [name, bytes] : m.blobs)
    description.blobs.push_back({name, static_cast<int64_t>(bytes.size()), is_text(bytes) ? bytes : ""});
  const auto files = open_files(fs, directory, m, description);
  for (const auto& t : m.tensors) {
    const auto extents = t.dims.extents();
    tensor_description row{
        t.name, std::string{to_string(t.type)}, {extents.begin(), extents.end()}, t.file, t.offset, t.bytes, t.crc32c};
    if (const auto file = files.find(t.file); file != files.end())
      examine_tensor(file->second, {t.name, t.type, t.dims, t.offset, t.bytes}, t.crc32c, options, row,
                     description.damages);
    description.tensors.push_back(std::move(row));
  }
}

/// Replaces properties of the manifest with those that evaluations added after the commit.
void add_verdict(file_system& fs, const std::string& directory, checkpoint_id id, checkpoint_description& description) {
  const std::string path = join_path(directory, verdict_name(id));
  const auto info = fs.info(path);
  if (!info)
    return;
  description.files.push_back(verdict_name(id));
  description.bytes += info->size;
  auto verdict = load_verdict(fs, directory, id);
  if (!verdict)
    return description.damages.push_back(damage_of(verdict.error(), path, "", std::nullopt));
  for (auto& [name, value] : *verdict)
    description.properties.insert_or_assign(name, std::move(value));
}

expected<std::vector<std::string>> shards_of(file_system& fs, const std::string& directory, checkpoint_id id) {
  const auto files = fs.list(directory);
  if (!files)
    return fail(files.error());
  std::vector<std::string> names;
  for (const auto& f : *files)
    if (id_of_shard(f.name) == id)
      names.push_back(f.name);
  return names;
}

}  // namespace

std::string reason_of(const error& e, const std::string& path) {
  return e.message.starts_with(path + ": ") ? e.message.substr(path.size() + 2) : e.message;
}

damage damage_of(const error& e, const std::string& path, const std::string& tensor, std::optional<int64_t> offset) {
  if (e.category == errc::not_found)
    return {path, tensor, offset, "is missing"};
  if (e.category == errc::data_loss)
    return {path, tensor, offset, reason_of(e, path)};
  const size_t named = e.message.find(path + ": ");  // "cannot open <path>: permission denied"
  const auto why = named == std::string::npos ? e.message : e.message.substr(named + path.size() + 2);
  return {path, tensor, offset,
          (e.category == errc::failed_precondition ? "may not be read: " : "could not be read: ") + why, true};
}

expected<checkpoint_description> examine_checkpoint(file_system& fs, const std::string& directory, checkpoint_id id,
                                                    const inspect_options& options) {
  checkpoint_description description{
      .path = join_path(directory, checkpoint_name(id)), .id = id, .verified = options.verify || options.values};
  const std::string path = join_path(directory, manifest_name(id));
  const auto lease = fs.hold(path);  // If there is no file to hold, there is nothing to protect.
  auto text = read_file(fs, path, manifest_bytes_max);
  const bool is_missing = !text && text.error().category == errc::not_found;
  if (!text && !is_missing && text.error().category != errc::data_loss)
    return fail(std::move(text.error()));
  const auto m = text ? parse_manifest(*text, path, id)
                      : fail(is_missing ? error{errc::data_loss, "is missing"} : text.error());
  if (!m && m.error().category != errc::data_loss)
    return fail(m.error());
  if (!is_missing)
    description.files.push_back(manifest_name(id));
  if (text)
    description.bytes += static_cast<int64_t>(text->size());
  if (m) {
    add_manifest(fs, directory, *m, options, description);
    add_verdict(fs, directory, id, description);
    return description;
  }
  const auto shards = shards_of(fs, directory, id);
  if (!shards)
    return fail(shards.error());
  if (is_missing && shards->empty())
    return fail(errc::not_found, description.path + " is no checkpoint: it has neither a manifest nor a shard");
  description.damages.push_back({path, "", text ? broken_at(*text) : std::nullopt, reason_of(m.error(), path)});
  for (const auto& name : *shards)
    if (auto added = add_safetensors(fs, directory, name, options, description); !added)
      return fail(std::move(added.error()));
  return description;
}

expected<checkpoint_description> examine_safetensors(file_system& fs, const std::string& path,
                                                     const inspect_options& options) {
  checkpoint_description description{.path = path, .verified = options.verify || options.values};
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  if (auto added = add_safetensors(fs, directory, path.substr(directory.size()), options, description); !added)
    return fail(std::move(added.error()));
  return description;
}

}  // namespace troupe
