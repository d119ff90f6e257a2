#include "storage/checkpoints/best_checkpoint.hpp"
#include "storage/checkpoints/checkpoint_files.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/checkpoints/checkpoint_store_impl.hpp"

#include <algorithm>

namespace troupe {

namespace {

bool lists(std::span<const checkpoint_id> ids, checkpoint_id id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

/// Removes the state file, since an empty list has none. If the process dies before the checkpoints are deleted, a scan
/// finds those that are still whole.
expected<void> checkpoint_store::impl::clear_list() {
  if (auto owned = check_owned(); !owned)
    return owned;
  list_uncertain = true;
  auto removed = fs->remove(join_path(directory, state_file_name));
  if (!removed && removed.error().category != errc::not_found)
    return removed;
  if (auto synced = fs->sync_directory(directory); !synced)
    return synced;
  list_uncertain = false;
  list.clear();
  retention = {};
  return {};
}

expected<commit_result> checkpoint_store::remove(std::span<const checkpoint_id> ids, bool newest_too) {
  auto& s = *impl_;
  if (s.options.read_only)
    return fail(errc::failed_precondition, s.directory + " was opened to be read only");
  if (auto owned = s.check_owned(); !owned)
    return fail(std::move(owned.error()));
  if (auto settled = s.settle(); !settled)
    return fail(std::move(settled.error()));
  const auto there = ids_with_files(*s.fs, s.directory);
  if (!there)
    return fail(there.error());
  for (const auto id : ids)
    if (!there->contains(id) && !lists(s.list, id))
      return fail(errc::not_found, s.directory + " has no checkpoint of step " + to_string(id));
  if (!newest_too && !s.list.empty() && lists(ids, s.list.back()))
    return fail(errc::failed_precondition, checkpoint_name(s.list.back()) + " is the newest checkpoint of "
                                               + s.directory + ": a job would go on from an older one");
  if (const auto best = best_kept(*this, s.directory); !newest_too && best && lists(ids, *best))
    return fail(errc::failed_precondition, checkpoint_name(*best) + " is the best checkpoint of " + s.directory
                                               + ", which its job has kept: nothing takes its place");

  auto next = s.list;
  auto next_retention = s.retention;
  std::erase_if(next, [&](checkpoint_id id) { return lists(ids, id); });
  for (const auto id : ids) {
    next_retention.saved_at.erase(id);
    next_retention.preserved.erase(id);
  }
  auto doomed = s.doomed;
  doomed.merge(s.identify(ids));
  if (next != s.list || next_retention != s.retention) {
    next_retention.doomed = doomed;
    if (auto listed = next.empty() ? s.clear_list() : s.replace_list(std::move(next), std::move(next_retention));
        !listed)
      return fail(std::move(listed.error()));
  }
  s.doomed = std::move(doomed);
  commit_result result;
  s.sweep(result, ids);
  return result;
}

}  // namespace troupe
