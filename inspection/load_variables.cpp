// Loads variables of checkpoints as tensors, without a job.
#include "storage/checkpoints/best_checkpoint.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/checkpoints/checkpoint_reader.hpp"
#include "words/text.hpp"

#include <troupe/checkpoints.hpp>

namespace troupe {

namespace {

/// Retries are needed because a running job may delete a checkpoint between the read of the state file and the lease.
constexpr int attempts_max = 8;

expected<std::unique_ptr<checkpoint_store>> store_of(const std::string& directory) {
  return checkpoint_store::open(posix_file_system(), directory, {.read_only = true});
}

expected<checkpoint_id> newest_of(const checkpoint_store& store, const std::string& directory) {
  if (const auto newest = store.newest())
    return *newest;
  // TensorFlow wrote the checkpoint.
  if (const auto found = store.inspect_newest(); !found && found.error().category == errc::failed_precondition)
    return fail(found.error());
  const auto info = posix_file_system()->info(directory);
  return fail(errc::not_found, directory
                                   + (info ? " holds no checkpoint that its state file names"
                                           : " does not exist, and neither does a checkpoint in it"));
}

/// What `train_result::checkpoint` and listeners call a checkpoint is its prefix, which is no directory.
std::optional<checkpoint_ref> as_prefix(const std::string& directory, const checkpoint_ref& which) {
  if (which.what != checkpoint_ref::kind::newest || !id_of_checkpoint(directory)
      || posix_file_system()->info(directory))
    return std::nullopt;
  return checkpoint_ref::of_path(directory);
}

/// The directory of the checkpoint: a reference by path brings its own.
std::string directory_of(const std::string& directory, const checkpoint_ref& which) {
  return which.what == checkpoint_ref::kind::path ? parent_of(which.path) : directory;
}

expected<checkpoint_id> id_of(const checkpoint_store& store, const std::string& directory,
                              const checkpoint_ref& which) {
  switch (which.what) {
    case checkpoint_ref::kind::newest: break;
    case checkpoint_ref::kind::best: return best_kept(store, directory);
    case checkpoint_ref::kind::step:
      return store.read_step(which.step).map([](const auto& reader) { return reader->info().id; });
    case checkpoint_ref::kind::path: return *id_of_checkpoint(which.path);
  }
  const auto best = best_in_use(store);
  return best ? *best : newest_of(store, directory);
}

}  // namespace

expected<std::string> find_checkpoint(const std::string& directory, const checkpoint_ref& which) {
  if (auto valid = validate(which); !valid)
    return fail(valid.error());
  if (which.what == checkpoint_ref::kind::path)
    return which.path;
  const auto store = store_of(directory);
  if (!store)
    return fail(store.error());
  return id_of(**store, directory, which).map([&](checkpoint_id id) {
    return join_path(directory, checkpoint_name(id));
  });
}

expected<std::map<std::string, tensor>> load_variables(const std::string& directory, const checkpoint_ref& which) {
  if (auto valid = validate(which); !valid)
    return fail(valid.error());
  if (const auto one = as_prefix(directory, which))
    return load_variables({}, *one);
  const auto where = directory_of(directory, which);
  const auto store = store_of(where);
  if (!store)
    return fail(store.error());
  for (int attempt = 1;; ++attempt) {
    const auto id = id_of(**store, where, which);
    if (!id)
      return fail(id.error());
    auto found = (*store)->restore(*id);
    if (!found && attempt < attempts_max)
      if (const auto now = id_of(**store, where, which); now && *now != *id)
        continue;
    if (!found)
      return fail(std::move(found.error()));
    std::map<std::string, tensor> variables;
    for (auto& t : found->content.tensors)
      variables.emplace(std::move(t.name), std::move(t.value));
    return variables;
  }
}

}  // namespace troupe
