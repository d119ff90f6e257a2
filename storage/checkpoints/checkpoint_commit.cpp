#include "storage/checkpoints/checkpoint_files.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/checkpoints/checkpoint_store_impl.hpp"
#include "storage/checkpoints/judged.hpp"
#include "storage/encodings/crc32c.hpp"

#include <algorithm>

namespace troupe {

namespace {

bool contains(std::span<const checkpoint_id> ids, checkpoint_id id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// The name of the first tensor of `content` that differs from the committed one; empty if there is none.
std::string first_difference(const checkpoint_content& content, const manifest& committed) {
  std::map<std::string_view, const stored_tensor_info*> by_name;
  for (const auto& t : committed.tensors)
    by_name.emplace(t.name, &t);
  for (const auto& t : content.tensors) {
    const auto found = by_name.find(t.name);
    if (found == by_name.end() || found->second->type != t.value.type() || found->second->dims != t.value.dims()
        || found->second->crc32c != crc32c(t.value.bytes()))
      return t.name;
    by_name.erase(found);
  }
  return by_name.empty() ? "" : std::string{by_name.begin()->first};
}

}  // namespace

expected<void> checkpoint_store::impl::settle() {
  if (!list_uncertain)
    return {};
  if (auto synced = fs->sync_directory(directory); !synced)
    return synced;
  auto reading = read_state();
  if (!reading)
    return fail(std::move(reading.error()));
  if (reading->state) {
    retention = std::move(reading->state->retention);
    std::vector<checkpoint_id> dropped;
    for (const auto id : list)
      if (!contains(reading->state->ids, id) && !retention.preserved.contains(id))
        dropped.push_back(id);
    doomed.merge(identify(dropped));
    list = std::move(reading->state->ids);
    for (const auto id : list)
      doomed.erase(id);
  }
  list_uncertain = false;
  return {};
}

/// Skips files that were verified when they were restored and have not changed since: a job that resumes saves the
/// restored state again.
expected<void> checkpoint_store::impl::verify(const manifest& m) const {
  if (verified->id == m.id && !verified->files.empty())
    if (const auto stamps = stamp_checkpoint_files(*fs, directory, m); stamps && *stamps == verified->files)
      return {};
  return verify_checkpoint_files(*fs, directory, m);
}

/// Whether the checkpoint is already committed and whole. Its files must then not be replaced.
expected<bool> checkpoint_store::impl::keep_committed(const checkpoint_content& content,
                                                      std::vector<std::string>& warnings) {
  // A checkpoint that is not listed may be preserved, or be leased by a reader: its files must not be replaced either.
  const bool listed = contains(list, content.id);
  if (!listed && !leases.contains(content.id) && !doomed.contains(content.id)
      && !retention.preserved.contains(content.id))
    return false;
  const auto m = load_manifest(*fs, directory, content.id);
  const auto whole = m ? verify(*m) : fail(m.error());
  if (!whole) {
    if (!says_damaged(whole.error()))
      return fail(whole.error());
    if (listed || whole.error().category != errc::not_found)  // A lease may have been taken before the files existed.
      warnings.push_back(checkpoint_name(content.id) + " was damaged and is written anew: " + whole.error().message);
    return false;
  }
  if (const auto tensor = first_difference(content, *m); !tensor.empty())
    warnings.push_back(checkpoint_name(content.id) + " was committed before with another value of " + tensor
                       + "; the committed files stay");
  return true;
}

expected<void> checkpoint_store::impl::write_files(const checkpoint_content& content) {
  auto written = write_checkpoint_files(*fs, directory, *lock, content, options.shard_bytes_max);
  if (written)
    return {};
  // On a full disk this frees the space of the written part; on a broken disk it may fail too.
  if (written.error().category != errc::invalid_argument)
    discard(content.id);
  return fail(std::move(written.error()));
}

void checkpoint_store::impl::discard(checkpoint_id id) {
  if (check_owned())
    (void)remove_checkpoint_files(*fs, directory, id);
}

std::map<checkpoint_id, int64_t> checkpoint_store::impl::identify(std::span<const checkpoint_id> ids) const {
  std::map<checkpoint_id, int64_t> found;
  for (const auto id : ids) {
    const auto info = fs->info(join_path(directory, manifest_name(id)));
    found[id] = info ? info->changed : 0;  // 0: the next owner will not delete a checkpoint that could not be examined.
  }
  return found;
}

expected<void> checkpoint_store::impl::replace_list(std::vector<checkpoint_id> next, retention_state next_retention) {
  if (auto owned = check_owned(); !owned)
    return owned;
  list_uncertain = true;
  const auto text = write_state_file(next, next_retention);
  if (auto written = write_file_atomically(*fs, directory, std::string{state_file_name}, text, lock.get()); !written)
    return written;
  list_uncertain = false;
  list = std::move(next);
  retention = std::move(next_retention);
  return {};
}

expected<bool> checkpoint_store::impl::remove_doomed(checkpoint_id id) {
  if (leases.contains(id))
    return false;
  if (auto owned = check_owned(); !owned)
    return fail(std::move(owned.error()));
  auto removed = remove_unless_leased(*fs, directory, id);
  if (removed && *removed)
    doomed.erase(id);
  return removed;
}

expected<std::optional<checkpoint_id>> checkpoint_store::impl::judged_best() const {
  using found = std::optional<checkpoint_id>;
  if (const auto there = fs->info(join_path(directory, std::string{judged_file})); !there)
    return there.error().category == errc::not_found ? expected<found>{} : fail(there.error());
  const auto said = load_judged(*fs, directory);
  if (!said && (said.error().category == errc::data_loss || said.error().category == errc::unimplemented))
    return found{};  // No words of an evaluator that this program understands.
  if (!said)
    return fail(said.error());
  if (!said->best)
    return found{};
  return has_checkpoint(*fs, directory, said->best->at).map([&](bool is_there) {
    return is_there ? found{said->best->at.id} : found{};
  });
}

void checkpoint_store::impl::sweep(commit_result& result, std::span<const checkpoint_id> chosen) {
  const auto dropped = doomed;
  if (dropped.empty())
    return;
  const auto best = judged_best();
  for (const auto& [id, changed] : dropped) {
    if ((!best || *best == id) && !contains(chosen, id))
      result.held.push_back(id);
    else if (const auto removed = remove_doomed(id); !removed)
      result.warnings.push_back(checkpoint_name(id) + " could not be deleted: " + removed.error().message);
    else
      (*removed ? result.deleted : result.held).push_back(id);
  }
}

expected<void> checkpoint_store::add_verdict(checkpoint_id id, const std::map<std::string, std::string>& properties) {
  auto& s = *impl_;
  if (s.options.read_only)
    return fail(errc::failed_precondition, s.directory + " was opened to be read only");
  if (auto owned = s.check_owned(); !owned)
    return owned;
  if (const auto info = s.fs->info(join_path(s.directory, manifest_name(id))); !info)
    return fail(info.error());
  auto all = load_verdict(*s.fs, s.directory, id).value_or(std::map<std::string, std::string>{});
  for (const auto& [name, value] : properties)
    all.insert_or_assign(name, value);
  return write_verdict(*s.fs, s.directory, *s.lock, id, all);
}

expected<void> checkpoint_store::keep(std::optional<checkpoint_id> best) {
  auto& s = *impl_;
  s.kept = best;
  if (!best || !s.doomed.contains(*best) || contains(s.list, *best))
    return {};
  if (auto settled = s.settle(); !settled)
    return settled;
  if (contains(s.list, *best) || !s.fs->info(join_path(s.directory, manifest_name(*best))))
    return {};
  auto next = s.list;
  next.insert(std::find_if(next.begin(), next.end(), [&](checkpoint_id id) { return id > *best; }), *best);
  auto retention = s.retention;
  retention.doomed = s.doomed;
  retention.doomed.erase(*best);
  if (auto listed = s.replace_list(std::move(next), std::move(retention)); !listed)
    return listed;
  s.doomed.erase(*best);
  return {};
}

expected<commit_result> checkpoint_store::commit(const checkpoint_content& content) {
  auto& s = *impl_;
  const auto id = content.id;
  if (s.options.read_only)
    return fail(errc::failed_precondition, s.directory + " was opened to be read only");
  if (auto owned = s.check_owned(); !owned)
    return fail(std::move(owned.error()));
  if (auto settled = s.settle(); !settled)
    return fail(std::move(settled.error()));

  commit_result result{.prefix = s.prefix(id)};
  const auto kept = s.keep_committed(content, result.warnings);
  if (!kept)
    return fail(kept.error());
  if (!*kept)
    if (auto written = s.write_files(content); !written)
      return fail(std::move(written.error()));

  auto next = s.list;
  std::erase(next, id);
  next.push_back(id);
  auto kept_by_policy = decide_retention(
      {s.options.keep_checkpoint_max, s.options.keep_checkpoint_every_n_hours, s.kept}, std::move(next), s.retention,
      content.wall_time);
  // Records them as doomed before any deletion, so that the next owner finishes the deletion if this process dies.
  auto doomed = s.doomed;
  doomed.merge(s.identify(kept_by_policy.deleted));
  doomed.erase(id);
  kept_by_policy.retention.doomed = doomed;

  if (auto listed = s.replace_list(std::move(kept_by_policy.listed), std::move(kept_by_policy.retention)); !listed) {
    // The files just written are in use if the new list is on disk, and are deleted if the old list is.
    if (s.settle() && !*kept && !contains(s.list, id))
      s.discard(id);
    return fail(std::move(listed.error()));
  }
  s.doomed = std::move(doomed);
  s.sweep(result);
  std::move(s.pending_warnings.begin(), s.pending_warnings.end(), std::back_inserter(result.warnings));
  s.pending_warnings.clear();
  return result;
}

}  // namespace troupe
