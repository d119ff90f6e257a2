#include "storage/checkpoints/checkpoint_files.hpp"

#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/encodings/crc32c.hpp"
#include "storage/encodings/safetensors.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace troupe {

namespace {

constexpr size_t written_max = size_t{1} << 20;  // Bytes are checksummed in the cache and written from there.

expected<void> check_content(const checkpoint_content& content) {
  if (content.id.step < 0)
    return fail(errc::invalid_argument, "a checkpoint cannot have the step " + std::to_string(content.id.step));
  if (content.id.iteration < 0)
    return fail(errc::invalid_argument,
                "a checkpoint cannot have the iteration " + std::to_string(content.id.iteration));
  std::set<std::string_view> names;
  for (const auto& t : content.tensors)
    if (!names.insert(t.name).second)
      return fail(errc::invalid_argument, "two tensors of step " + to_string(content.id) + " are called " + t.name);
  return {};
}

/// Divides tensors into shards and returns the indices of each. Shards are filled in order up to `bytes_max`; a larger
/// tensor has its own shard. In a shard, tensors with wide elements come first, so that each tensor starts at a
/// multiple of its element size: some readers map the file.
std::vector<std::vector<size_t>> divide(const std::vector<named_tensor>& tensors, int64_t bytes_max) {
  std::vector<std::vector<size_t>> shards(1);
  int64_t filled = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int64_t bytes = tensors[i].value.byte_size();
    if (!shards.back().empty() && filled > bytes_max - bytes) {
      shards.emplace_back();
      filled = 0;
    }
    shards.back().push_back(i);
    filled += bytes;
  }
  for (auto& shard : shards)
    std::stable_sort(shard.begin(), shard.end(), [&](size_t a, size_t b) {
      return size_of(tensors[a].value.type()) > size_of(tensors[b].value.type());
    });
  return shards;
}

/// Writes the output of `fill` under a temporary name, syncs it, renames it and syncs the directory.
template <class Fill>
expected<void> write_new_file(file_system& fs, const std::string& directory, const directory_lock& lock,
                              const std::string& name, Fill fill) {
  const std::string path = join_path(directory, name), temporary = path + ".tmp";
  auto file = create_temporary(fs, temporary);
  if (!file)
    return fail(std::move(file.error()));
  return fill(**file)
      .and_then([&] { return complete_temporary(**file, temporary, path, &lock); })
      .and_then([&] { return fs.rename(temporary, path); })
      .and_then([&] { return fs.sync_directory(directory); });
}

expected<uint32_t> append_summed(writable_file& file, std::span<const std::byte> bytes) {
  uint32_t crc = 0;
  while (!bytes.empty()) {
    const auto chunk = bytes.first(std::min(written_max, bytes.size()));
    crc = crc32c(chunk, crc);
    if (auto done = file.append(chunk); !done)
      return fail(std::move(done.error()));
    bytes = bytes.subspan(chunk.size());
  }
  return crc;
}

/// The layout of one shard, before any byte of it is written.
struct planned_shard {
  std::string name;
  std::string header;
  std::vector<size_t> indices;
  std::vector<tensor_place> places;
};

expected<std::vector<planned_shard>> plan_shards(const checkpoint_content& content, int64_t bytes_max) {
  const auto division = divide(content.tensors, bytes_max);
  std::vector<planned_shard> shards;
  for (const auto& indices : division) {
    planned_shard shard{
        .name = shard_name(content.id, static_cast<int64_t>(shards.size()), static_cast<int64_t>(division.size())),
        .indices = indices};
    for (const size_t i : indices)
      shard.places.push_back({.name = content.tensors[i].name,
                              .type = content.tensors[i].value.type(),
                              .dims = content.tensors[i].value.dims()});
    auto header = lay_out_safetensors(shard.places);
    if (!header)
      return fail(std::move(header.error()));
    shard.header = std::move(*header);
    shards.push_back(std::move(shard));
  }
  return shards;
}

expected<void> write_shard(file_system& fs, const std::string& directory, const directory_lock& lock,
                           const checkpoint_content& content, const planned_shard& shard, manifest& m) {
  const int64_t header_bytes = static_cast<int64_t>(shard.header.size());
  int64_t bytes = header_bytes;
  auto written = write_new_file(fs, directory, lock, shard.name, [&](writable_file& file) -> expected<void> {
    if (auto done = file.append(std::as_bytes(std::span{shard.header})); !done)
      return done;
    for (size_t k = 0; k < shard.indices.size(); ++k) {
      const auto crc = append_summed(file, content.tensors[shard.indices[k]].value.bytes());
      if (!crc)
        return fail(crc.error());
      const auto& place = shard.places[k];
      m.tensors[shard.indices[k]] = {place.name, place.type, place.dims, *crc, shard.name, place.offset, place.bytes};
      bytes += place.bytes;
    }
    return {};
  });
  if (written)
    m.files.push_back({shard.name, bytes, header_bytes, crc32c(shard.header)});
  return written;
}

expected<void> remove_if_there(file_system& fs, const std::string& path) {
  auto removed = fs.remove(path);
  if (!removed && removed.error().category == errc::not_found)
    return {};
  return removed;
}

}  // namespace

expected<manifest> write_checkpoint_files(file_system& fs, const std::string& directory, const directory_lock& lock,
                                          const checkpoint_content& content, int64_t shard_bytes_max) {
  if (auto sound = check_content(content); !sound)
    return fail(std::move(sound.error()));
  auto shards = plan_shards(content, shard_bytes_max);
  if (!shards)
    return fail(std::move(shards.error()));
  manifest m{.id = content.id,
             .wall_time = content.wall_time,
             .tensors = std::vector<stored_tensor_info>(content.tensors.size()),
             .blobs = content.blobs,
             .properties = content.properties};
  if (auto text = write_manifest(m); !text)
    return fail(std::move(text.error()));  // Fails before anything is removed.
  if (auto removed = remove_checkpoint_files(fs, directory, content.id); !removed)
    return fail(std::move(removed.error()));
  for (const auto& shard : *shards)
    if (auto written = write_shard(fs, directory, lock, content, shard, m); !written)
      return fail(std::move(written.error()));
  auto text = write_manifest(m);
  if (!text)
    return fail(std::move(text.error()));
  if (static_cast<int64_t>(text->size()) > manifest_bytes_max)
    return fail(errc::resource_exhausted, "the manifest of step " + to_string(content.id) + " would have "
                                              + std::to_string(text->size()) + " bytes, and is read up to "
                                              + std::to_string(manifest_bytes_max)
                                              + ": the positions of its inputs are too large");
  if (auto written = write_file_atomically(fs, directory, manifest_name(content.id), *text, &lock); !written)
    return fail(std::move(written.error()));
  return m;
}

expected<manifest> load_manifest(file_system& fs, const std::string& directory, checkpoint_id id) {
  const std::string path = join_path(directory, manifest_name(id));
  auto text = read_file(fs, path, manifest_bytes_max);
  if (!text)
    return fail(std::move(text.error()));
  auto m = parse_manifest(std::move(*text), path, id);
  if (!m)
    return m;
  auto verdict = load_verdict(fs, directory, id);
  if (verdict) {
    for (auto& [name, value] : *verdict)
      m->properties.insert_or_assign(name, std::move(value));
  } else if (verdict.error().category != errc::not_found) {
    m->properties[std::string{damaged_verdict_property}] = verdict.error().message;
  }
  return m;
}

expected<std::map<std::string, std::string>> load_verdict(file_system& fs, const std::string& directory,
                                                          checkpoint_id id) {
  const std::string path = join_path(directory, verdict_name(id));
  auto text = read_file(fs, path);
  if (!text)
    return fail(std::move(text.error()));
  return parse_manifest(std::move(*text), path, id).map([](manifest m) { return std::move(m.properties); });
}

expected<void> write_verdict(file_system& fs, const std::string& directory, const directory_lock& lock,
                             checkpoint_id id, const std::map<std::string, std::string>& properties) {
  const auto text = write_manifest({.id = id, .properties = properties});
  return text ? write_file_atomically(fs, directory, verdict_name(id), *text, &lock)
              : expected<void>{fail(text.error())};
}

expected<checkpoint_files> open_checkpoint_files(file_system& fs, const std::string& directory, const manifest& m) {
  checkpoint_files files;
  for (const auto& f : m.files) {
    auto file = open_listed_file(fs, directory, f);
    if (!file)
      return fail(std::move(file.error()));
    files.emplace(f.name, std::move(*file));
  }
  return files;
}

expected<void> check_checksum(const std::string& path, const stored_tensor_info& t, uint32_t crc32c) {
  if (crc32c == t.crc32c)
    return {};
  return fail(errc::data_loss, path + ": tensor " + t.name + " at offset " + std::to_string(t.offset)
                                   + " has the checksum " + crc32c_text(crc32c) + " and should have "
                                   + crc32c_text(t.crc32c));
}

expected<void> verify_checkpoint_files(file_system& fs, const std::string& directory, const manifest& m) {
  const auto files = open_checkpoint_files(fs, directory, m);
  if (!files)
    return fail(files.error());
  for (const auto& t : m.tensors) {
    const std::string path = join_path(directory, t.file);
    const auto crc = checksum_tensor(*files->at(t.file), path, {t.name, t.type, t.dims, t.offset, t.bytes});
    if (!crc)
      return fail(crc.error());
    if (auto right = check_checksum(path, t, *crc); !right)
      return right;
  }
  return {};
}

expected<std::map<std::string, file_stamp>> stamp_checkpoint_files(file_system& fs, const std::string& directory,
                                                                   const manifest& m) {
  std::vector<std::string> names{manifest_name(m.id)};
  for (const auto& f : m.files)
    names.push_back(f.name);
  std::map<std::string, file_stamp> stamps;
  for (const auto& name : names) {
    const auto info = fs.info(join_path(directory, name));
    if (!info)
      return fail(info.error());
    stamps.emplace(name, file_stamp{info->size, info->changed});
  }
  return stamps;
}

expected<std::set<checkpoint_id>> ids_with_files(file_system& fs, const std::string& directory) {
  const auto files = fs.list(directory);
  if (!files)
    return fail(files.error());
  std::set<checkpoint_id> ids;
  for (const auto& f : *files)
    for (const auto id : {id_of_manifest(f.name), id_of_verdict(f.name), id_of_shard(f.name)})
      if (id)
        ids.insert(*id);
  return ids;
}

expected<void> remove_checkpoint_files(file_system& fs, const std::string& directory, checkpoint_id id) {
  const auto files = fs.list(directory);
  if (!files)
    return fail(files.error());
  std::vector<std::string> names;
  for (const auto& f : *files) {
    const auto name = is_temporary(f.name) ? f.name.substr(0, f.name.size() - 4) : f.name;
    if (id_of_shard(name) == id || id_of_manifest(name) == id || id_of_verdict(name) == id)
      names.push_back(f.name);
  }
  if (names.empty())
    return {};
  std::stable_partition(names.begin(), names.end(), [&](const auto& name) { return name == manifest_name(id); });
  for (const auto& name : names)
    if (auto removed = remove_if_there(fs, join_path(directory, name)); !removed)
      return removed;
  return fs.sync_directory(directory);
}

expected<bool> remove_unless_leased(file_system& fs, const std::string& directory, checkpoint_id id) {
  // Removes the manifest first: without it no new reader can begin.
  auto removed = fs.remove_unless_held(join_path(directory, manifest_name(id)));
  if (!removed && removed.error().category != errc::not_found)
    return removed;
  if (removed && !*removed)
    return false;
  return remove_checkpoint_files(fs, directory, id).map([] { return true; });
}

}  // namespace troupe
