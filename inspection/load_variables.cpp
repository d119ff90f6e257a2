// Variables of checkpoints as tensors, without a job.
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "words/checkpoint_books.hpp"

#include <troupe/checkpoints.hpp>

namespace troupe {

namespace {

/// A running job may delete a checkpoint between the look at the state file and the lease.
constexpr int attempts_max = 8;

expected<std::unique_ptr<checkpoint_store>> store_of(const std::string& directory) {
  return checkpoint_store::open(posix_file_system(), directory, {.read_only = true});
}

expected<checkpoint_id> newest_of(const checkpoint_store& store, const std::string& directory) {
  if (const auto newest = store.newest())
    return *newest;
  if (const auto found = store.inspect_newest(); !found && found.error().category == errc::failed_precondition)  // Of TensorFlow's.
    return fail(found.error());
  const auto info = posix_file_system()->info(directory);
  return fail(errc::not_found, directory + (info ? " holds no checkpoint that its state file names" : " does not exist, and neither does a checkpoint in it"));
}

}  // namespace

expected<std::string> latest_checkpoint(const std::string& directory) {
  const auto store = store_of(directory);
  if (!store)
    return fail(store.error());
  return newest_of(**store, directory).map([&](checkpoint_id id) { return join_path(directory, checkpoint_name(id)); });
}

expected<std::string> best_checkpoint(const std::string& directory) {
  const auto store = store_of(directory);
  if (!store)
    return fail(store.error());
  const auto newest = (*store)->inspect_newest();
  if (!newest)
    return fail(newest.error());
  const auto best = read_books(newest->properties).best;
  if (!best)
    return fail(errc::not_found, directory + " has no best checkpoint: its job was not told to keep one (keep_best), or has not evaluated one yet");
  return join_path(directory, checkpoint_name(best->id));
}

expected<std::map<std::string, tensor>> load_variables(const std::string& directory, std::optional<int64_t> step) {
  const auto store = store_of(directory);
  if (!store)
    return fail(store.error());
  for (int attempt = 1;; ++attempt) {
    const auto newest = step ? expected<checkpoint_id>{} : newest_of(**store, directory);
    if (!newest)
      return fail(newest.error());
    auto found = step ? (*store)->restore_step(*step) : (*store)->restore(*newest);
    if (!found && !step && attempt < attempts_max && (*store)->newest() != *newest)
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
