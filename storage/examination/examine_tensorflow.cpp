#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/examination/damage_of.hpp"
#include "storage/examination/examination.hpp"
#include "storage/tensorflow/tensor_bundle.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// Adds a file of the checkpoint to the description. If it is missing, adds damage.
void add_file(file_system& fs, const std::string& path, checkpoint_description& description) {
  description.files.push_back(file_name_of(path));
  const auto info = fs.info(path);
  if (info)
    description.bytes += info->size;
  else
    description.damages.push_back(damage_of(info.error(), path, "", {}));
}

/// Reads a tensor as far as `options` require. A type that cannot be read is not damage.
void examine_tensor(file_system& fs, tensor_bundle& bundle, const bundle_tensor& t, const inspect_options& options,
                    tensor_description& row, std::vector<damage>& damages) {
  const auto path_of = [&](const bundle_piece& p) {
    return bundle_data_name(bundle.prefix(), p.shard, bundle.shards());
  };
  if (t.problem) {
    if (t.problem->category == errc::data_loss)
      damages.push_back(
          {bundle_index_name(bundle.prefix()), t.name, {}, reason_of(*t.problem, bundle_index_name(bundle.prefix()))});
    return;
  }
  for (const auto& p : t.pieces) {
    const auto info = fs.info(path_of(p));
    if (!info)
      return;  // The missing file itself is already in the description.
    if (p.offset > info->size - p.bytes) {
      damages.push_back(
          {path_of(p), t.name, p.offset,
           "needs " + std::to_string(p.bytes) + " bytes, and the file ends at " + std::to_string(info->size)});
      return;
    }
  }
  expected<void> read;
  if (options.values && t.type->bytes != 0) {
    auto bytes = bundle.read(t);
    if (bytes)
      row.value.emplace(reinterpret_cast<const char*>(bytes->get()), static_cast<size_t>(t.bytes));
    else
      read = fail(std::move(bytes.error()));
  } else if (options.verify || options.values) {
    read = bundle.verify(t);
  }
  if (!read)
    damages.push_back(damage_of(read.error(),
                                row.file.empty() ? bundle_index_name(bundle.prefix()) : path_of(t.pieces.front()),
                                t.name, row.offset));
}

}  // namespace

expected<checkpoint_description> examine_tensorflow(file_system& fs, const std::string& prefix,
                                                    const inspect_options& options) {
  checkpoint_description description{
      .path = prefix, .id = id_of_checkpoint(prefix), .verified = options.verify || options.values};
  description.properties["format"] = "TensorFlow";
  const std::string index = bundle_index_name(prefix);
  const auto info = fs.info(index);
  if (!info)
    return fail(info.error());
  description.wall_time = info->modified;
  add_file(fs, index, description);
  auto bundle = tensor_bundle::open(fs, prefix);
  if (!bundle && bundle.error().category != errc::data_loss && bundle.error().category != errc::not_found)
    return fail(std::move(bundle.error()));
  if (!bundle) {
    description.damages.push_back(damage_of(bundle.error(), index, "", {}));
    return description;
  }
  description.properties["producer"] = std::to_string(bundle->producer());
  for (int32_t shard = 0; shard < bundle->shards(); ++shard)
    add_file(fs, bundle_data_name(prefix, shard, bundle->shards()), description);
  for (const auto& t : bundle->tensors()) {
    const std::string type = t.type ? std::string{t.type->name} : "type " + std::to_string(t.type_number);
    tensor_description row{.name = t.name, .dtype = type, .shape = t.extents, .bytes = t.bytes};
    if (!t.pieces.empty()) {
      row.file = file_name_of(bundle_data_name(prefix, t.pieces.front().shard, bundle->shards()));
      row.offset = t.pieces.front().offset;
    }
    if (t.pieces.size() == 1)
      row.crc32c = t.pieces.front().crc32c;
    examine_tensor(fs, *bundle, t, options, row, description.damages);
    description.tensors.push_back(std::move(row));
  }
  return description;
}

bool is_tensorflow_checkpoint(file_system& fs, const std::string& prefix) {
  return fs.info(bundle_index_name(prefix)).has_value() && !fs.info(prefix + ".manifest.json");
}

expected<std::set<checkpoint_id>> tensorflow_ids(file_system& fs, const std::string& directory) {
  constexpr std::string_view ending = ".index";
  const auto files = fs.list(directory);
  if (!files)
    return fail(files.error());
  std::set<checkpoint_id> ids;
  for (const auto& f : *files)
    if (f.name.ends_with(ending))
      if (const auto id = id_of_checkpoint(std::string_view{f.name}.substr(0, f.name.size() - ending.size())))
        ids.insert(*id);
  return ids;
}

}  // namespace troupe
