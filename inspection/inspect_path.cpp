// Inspects paths on disk: finds out what a path names, and calls the matching inspection.
#include "inspection/describe_search.hpp"
#include "storage/checkpoints/best_checkpoint.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "storage/examination/examination.hpp"
#include "storage/exports/export_directory.hpp"
#include "words/text.hpp"

#include <troupe/delete_checkpoints.hpp>
#include <troupe/exported_model.hpp>

#include <limits>

namespace troupe {

namespace {

bool is_event_file(const std::string& path) { return file_name_of(path).find("tfevents") != std::string::npos; }

tl::unexpected<error> unknown_kind(const std::string& path) {
  return fail(errc::invalid_argument, path + " is neither a model directory nor a checkpoint (dir/model.ckpt-390), "
                                             "an exported model, a manifest, the "
                                             "prefix or .index of a TensorFlow checkpoint, a .safetensors file or "
                                             "an event file");
}

void mark_best(directory_description& found) {
  const auto store = checkpoint_store::open(posix_file_system(), found.path, {.read_only = true});
  const auto best = store ? best_kept(**store, found.path) : expected<checkpoint_id>{fail(store.error())};
  for (auto& c : found.checkpoints)
    c.best = best && c.id == *best;
}

}  // namespace

expected<checkpoint_description> inspect_checkpoint(const std::string& path, const inspect_options& options) {
  const auto fs = posix_file_system();
  constexpr std::string_view index = ".index";
  const std::string prefix = path.ends_with(index) ? path.substr(0, path.size() - index.size()) : path;
  if (is_tensorflow_checkpoint(*fs, prefix))
    return examine_tensorflow(*fs, prefix, options);
  for (const auto id : {id_of_checkpoint(path), id_of_manifest(file_name_of(path))})
    if (id)
      return examine_checkpoint(*fs, parent_of(path), *id, options);
  if (path.ends_with(".safetensors"))
    return examine_safetensors(*fs, path, options);
  if (auto info = fs->info(path); !info)
    return fail(std::move(info.error()));
  return unknown_kind(path);
}

expected<directory_description> inspect_directory(const std::string& path, const inspect_options& options) {
  auto made = examine_directory(*posix_file_system(), path, options);
  if (!made)
    return made;
  if (auto exports = list_exports(path))
    for (const auto& e : *exports)
      made->exports.push_back(e.substr(path.size() + (path.ends_with('/') ? 0 : 1)));
  else
    made->warnings.push_back(to_text(exports.error()));
  if (!made->newest)
    return made;
  mark_best(*made);
  if (auto search = read_search(posix_file_system(), path))
    made->search = std::move(*search);
  else if (search.error().category == errc::data_loss || search.error().category == errc::unimplemented)
    made->warnings.push_back(search.error().message);
  return made;
}

expected<event_file_description> inspect_event_file(const std::string& path) {
  return examine_event_file(*posix_file_system(), path);
}

expected<event_history> event_points(const std::string& path, std::string_view tag) {
  return examine_event_points(*posix_file_system(), path, tag);
}

expected<inspection> inspect(const std::string& path, const inspect_options& options) {
  const auto as_inspection = [](auto description) { return inspection{std::move(description)}; };
  const auto info = posix_file_system()->info(path);
  if (info && info->directory && is_export(*posix_file_system(), path))
    return inspect_export(path, options).map(as_inspection);
  if (info && info->directory)
    return inspect_directory(path, options).map(as_inspection);
  if (info && info->name == state_file_name)
    return inspect_directory(parent_of(path), options).map(as_inspection);
  if (is_event_file(path))
    return inspect_event_file(path).map(as_inspection);
  return inspect_checkpoint(path, options).map(as_inspection);
}

bool is_sound(const inspection& description) {
  if (const auto* directory = std::get_if<directory_description>(&description)) {
    for (const auto& c : directory->checkpoints)
      if (!c.damages.empty())
        return false;
    return true;
  }
  if (const auto* checkpoint = std::get_if<checkpoint_description>(&description))
    return checkpoint->damages.empty();
  if (const auto* exported = std::get_if<export_description>(&description))
    return exported->damages.empty();
  return std::get<event_file_description>(description).damages.empty();
}

expected<deleted_checkpoints> delete_checkpoints(const std::string& directory, const std::vector<checkpoint_id>& ids,
                                                 const delete_options& options) {
  const auto fs = posix_file_system();
  // A store would create the directory; here a directory that does not exist is an error.
  if (auto info = fs->info(directory); !info)
    return fail(std::move(info.error()));
  // Retention must not delete other checkpoints, so the limit is raised: the given checkpoints alone are deleted.
  auto store = checkpoint_store::open(fs, directory, {.keep_checkpoint_max = std::numeric_limits<int>::max()});
  if (!store)
    return fail(std::move(store.error()));
  auto removed = (*store)->remove(ids, options.newest_too);
  if (!removed)
    return fail(std::move(removed.error()));
  if (!removed->warnings.empty())
    return fail(
        {errc::unavailable, removed->warnings.front(), {removed->warnings.begin() + 1, removed->warnings.end()}});
  return deleted_checkpoints{std::move(removed->deleted), std::move(removed->held)};
}

}  // namespace troupe
