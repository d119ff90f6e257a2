#include "storage/archives/tensor_archive.hpp"

#include "storage/archives/formats.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/checkpoints/state_file.hpp"
#include "storage/tensorflow/tensor_bundle.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

std::string_view to_string(archive_format f) noexcept {
  switch (f) {
    case archive_format::troupe: return "troupe";
    case archive_format::safetensors: return "safetensors";
    case archive_format::tensorflow: return "tensorflow";
  }
  return "unknown";
}

std::optional<std::pair<dtype, shape>> archived_tensor::ours() const {
  if (!known || !known->ours || problem || extents.size() > static_cast<size_t>(shape::max_rank))
    return {};
  return std::pair{*known->ours, shape{extents}};
}

std::string type_text(const archived_tensor& t) { return t.type + "[" + joined(t.extents) + "]"; }

const archived_tensor* tensor_archive::find(std::string_view name) const {
  const auto at = std::lower_bound(tensors_.begin(), tensors_.end(), name,
                                   [](const archived_tensor& t, std::string_view n) { return t.name < n; });
  return at != tensors_.end() && at->name == name ? &*at : nullptr;
}

void tensor_archive::take(std::vector<archived_tensor> tensors) {
  tensors_ = std::move(tensors);
  std::sort(tensors_.begin(), tensors_.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
}

expected<tensor> tensor_archive::read(const archived_tensor& t) {
  if (t.problem)
    return fail(*t.problem);
  const auto type = t.ours();
  if (!type)
    return fail(errc::type, path_ + ": tensor " + t.name + " is " + type_text(t) + ", which is no tensor of Troupe's");
  auto bytes = read_bytes(t);
  if (!bytes)
    return fail(std::move(bytes.error()));
  if (type->first == dtype::boolean) {  // A bool with any other byte would be undefined behaviour.
    const std::span values{bytes->get(), static_cast<size_t>(t.bytes)};
    if (std::any_of(values.begin(), values.end(), [](std::byte b) { return b > std::byte{1}; }))
      return fail(errc::data_loss, path_ + ": tensor " + t.name + " is boolean and has a byte that is neither 0 nor 1");
  }
  return tensor{type->first, type->second, std::move(*bytes)};
}

namespace {

constexpr std::string_view index_ending = ".index", file_ending = ".safetensors";

bool exists(file_system& fs, const std::string& path) { return fs.info(path).has_value(); }

/// Opens the checkpoint in `directory` whose prefix is called `name`.
expected<std::unique_ptr<tensor_archive>> open_named(const std::shared_ptr<file_system>& fs,
                                                     const std::string& directory, const std::string& name) {
  if (const auto id = id_of_checkpoint(name); id && exists(*fs, join_path(directory, manifest_name(*id))))
    return open_checkpoint(fs, directory, *id);
  const std::string prefix = join_path(directory, name);
  if (exists(*fs, bundle_index_name(prefix)))
    return open_bundle(fs, prefix);
  return fail(errc::not_found, "there is no checkpoint " + prefix + ": neither " + prefix + ".manifest.json nor "
                                   + bundle_index_name(prefix) + " exists");
}

expected<std::unique_ptr<tensor_archive>> open_newest(const std::shared_ptr<file_system>& fs,
                                                      const std::string& directory) {
  const std::string path = join_path(directory, state_file_name);
  const auto text = read_file(*fs, path);
  if (!text && text.error().category == errc::not_found)
    return fail(errc::not_found, directory + " has no state file " + quoted(state_file_name) + ", which would name "
                                                                                               "its newest "
                                                                                               "checkpoint; give a "
                                                                                               "checkpoint, "
                                   "as in " + join_path(directory, "model.ckpt-390"));
  if (!text)
    return fail(text.error());
  const auto newest = parse_newest_path(*text, path);
  return newest ? open_named(fs, directory, file_name_of(*newest)) : fail(newest.error());
}

}  // namespace

expected<std::unique_ptr<tensor_archive>> open_archive(const std::shared_ptr<file_system>& fs, const std::string& path,
                                                       std::optional<int64_t> step) {
  const auto info = fs->info(path);
  if (info && info->directory)
    return step ? open_named(fs, path, checkpoint_name({*step})) : open_newest(fs, path);
  if (!info && info.error().category != errc::not_found)
    return fail(info.error());
  if (step)
    return fail(errc::invalid_argument, "the step " + std::to_string(*step)
                                            + " chooses among the checkpoints of a directory, and " + path
                                            + " is none");
  if (info && path.ends_with(file_ending))
    return open_safetensors(fs, path);
  if (const auto id = id_of_manifest(file_name_of(path)))
    return open_checkpoint(fs, parent_of(path), *id);
  if (info && path.ends_with(index_ending))
    return open_bundle(fs, path.substr(0, path.size() - index_ending.size()));
  if (info)
    return fail(errc::invalid_argument, path + " is neither a directory with checkpoints, nor a checkpoint, a "
                                               "manifest, a .safetensors file or the .index of a "
                                               "TensorFlow checkpoint");
  return open_named(fs, path.find('/') == std::string::npos ? "" : parent_of(path), file_name_of(path));
}

expected<std::optional<int64_t>> step_of(tensor_archive& archive) {
  const auto* found = archive.find("global_step");
  if (!found || !found->extents.empty() || found->type != to_string(dtype::int64))
    return std::nullopt;
  const auto value = archive.read(*found);
  if (!value)
    return fail(value.error());
  const int64_t step = value->as<int64_t>().front();
  if (step < 0)
    return fail(errc::data_loss, archive.path() + ": global_step is " + std::to_string(step) + ", below 0");
  return step;
}

}  // namespace troupe
