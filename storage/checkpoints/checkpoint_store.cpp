#include "storage/checkpoints/checkpoint_store.hpp"

#include "storage/checkpoints/checkpoint_files.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/checkpoints/checkpoint_store_impl.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// The parent of a directory. The path may end in slashes.
std::string directory_above(std::string path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  return parent_of(path);
}

}  // namespace

std::string checkpoint_store::impl::prefix(checkpoint_id id) const { return join_path(directory, checkpoint_name(id)); }

expected<state_reading> checkpoint_store::impl::read_state() const {
  const std::string path = join_path(directory, state_file_name);
  auto text = read_file(*fs, path);
  if (!text && text.error().category == errc::not_found)
    return state_reading{};
  if (!text && text.error().category == errc::data_loss)
    return state_reading{.warnings = {text.error().message}};
  if (!text)
    return fail(std::move(text.error()));
  state_reading reading{.text = std::move(*text)};
  auto state = parse_state_file(reading.text, path);
  if (state) {
    reading.warnings = state->warnings;
    reading.state = std::move(*state);
  } else {
    reading.warnings.push_back(state.error().message);
  }
  return reading;
}

expected<std::vector<checkpoint_id>> checkpoint_store::impl::scan() const {
  const auto files = fs->list(directory);
  if (!files && files.error().category == errc::not_found)
    return std::vector<checkpoint_id>{};
  if (!files)
    return fail(files.error());
  std::vector<checkpoint_id> ids;
  for (const auto& f : *files)
    if (const auto id = id_of_manifest(f.name))
      ids.push_back(*id);
  std::sort(ids.begin(), ids.end(), [](auto a, auto b) {
    return std::pair{a.iteration, a.step} < std::pair{b.iteration, b.step};
  });
  return ids;
}

expected<std::vector<checkpoint_id>> checkpoint_store::impl::scan_complete() const {
  auto ids = scan();
  if (!ids)
    return ids;
  std::vector<checkpoint_id> complete;
  for (const auto id : *ids) {
    const auto m = load_manifest(*fs, directory, id);
    if (!m && !says_damaged(m.error()))
      return fail(m.error());
    const bool sound = m && std::all_of(m->files.begin(), m->files.end(), [&](const auto& f) {
                         const auto info = fs->info(join_path(directory, f.name));
                         return info && info->size == f.bytes;
                       });
    if (sound)
      complete.push_back(id);
  }
  return complete;
}

expected<void> checkpoint_store::impl::prepare_directory() {
  // A directory created here must survive a crash like its contents, and so must every parent created with it.
  std::vector<std::string> to_sync;
  for (std::string at = directory;;) {
    const auto info = fs->info(at);
    if (info && !info->directory)
      return fail(errc::failed_precondition, at + " is a file, and a model directory is wanted there");
    if (!info && info.error().category != errc::not_found)
      return fail(info.error());
    const std::string parent = directory_above(at);
    if (info || parent == at)
      break;
    to_sync.push_back(parent);
    at = parent;
  }
  if (auto made = fs->create_directories(directory); !made)
    return made;
  for (const auto& parent : to_sync)
    if (auto synced = fs->sync_directory(parent); !synced)
      return synced;
  // An earlier process may have died after creating the directory and before syncing its parent. Errors are ignored:
  // this process may not be permitted to sync it.
  if (to_sync.empty())
    (void)fs->sync_directory(directory_above(directory));
  return {};
}

expected<void> checkpoint_store::impl::recover() {
  auto reading = read_state();
  if (!reading)
    return fail(std::move(reading.error()));
  pending_warnings = std::move(reading->warnings);
  if (reading->state) {
    list = std::move(reading->state->ids);
    retention = std::move(reading->state->retention);
  } else {
    // Lists the checkpoints that a scan finds: a job resumes from the newest of them and commits it again. Lists only
    // as many as retention keeps; otherwise the first commit would delete checkpoints that no list named.
    auto found = scan_complete();
    if (!found)
      return fail(std::move(found.error()));
    const size_t kept = options.keep_checkpoint_max == 0
                            ? found->size()
                            : std::min(found->size(), static_cast<size_t>(options.keep_checkpoint_max));
    list.assign(found->end() - static_cast<std::ptrdiff_t>(kept), found->end());
  }
  recover_times();
  // This process has the lock, so the writers of all temporary files are dead. Shards without a manifest that are not
  // listed are left from an interrupted save or deletion; they can never be restored.
  const auto files = fs->list(directory);
  if (!files)
    return fail(files.error());
  const std::set<checkpoint_id> listed{list.begin(), list.end()};
  std::set<std::string_view> names;
  for (const auto& f : *files)
    names.insert(f.name);
  for (const auto& f : *files) {
    const auto named = id_of_shard(f.name);
    const auto id = !reading->state ? std::nullopt : named ? named : id_of_verdict(f.name);
    const bool remains = id && !names.contains(manifest_name(*id)) && !listed.contains(*id);
    if (!is_temporary(f.name) && !remains)
      continue;
    if (auto removed = fs->remove(join_path(directory, f.name)); !removed)
      pending_warnings.push_back(removed.error().message);
  }
  finish_deletions();
  return {};
}

void checkpoint_store::impl::finish_deletions() {
  const std::set<checkpoint_id> listed{list.begin(), list.end()};
  for (const auto& [id, changed] : retention.doomed) {
    if (listed.contains(id) || retention.preserved.contains(id))
      continue;
    const auto info = fs->info(join_path(directory, manifest_name(id)));
    if (info && info->changed == changed)
      doomed.emplace(id, changed);
  }
  commit_result result;
  sweep(result);
  std::move(result.warnings.begin(), result.warnings.end(), std::back_inserter(pending_warnings));
}

expected<void> checkpoint_store::impl::check_owned() const { return lock ? lock->check() : expected<void>{}; }

void checkpoint_store::impl::recover_times() {
  std::map<checkpoint_id, double> times;
  for (const auto id : list) {
    if (const auto known = retention.saved_at.find(id); known != retention.saved_at.end())
      times.insert(*known);
    else if (const auto info = fs->info(join_path(directory, manifest_name(id))))
      times[id] = info->modified;
  }
  retention.saved_at = std::move(times);
}

checkpoint_store::checkpoint_store(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
checkpoint_store::~checkpoint_store() = default;

expected<std::unique_ptr<checkpoint_store>> checkpoint_store::open(std::shared_ptr<file_system> fs,
                                                                   std::string directory,
                                                                   checkpoint_store_options options,
                                                                   const std::shared_ptr<directory_claim>& claim) {
  if (directory.empty())
    return fail(errc::invalid_argument, "a model directory must have a name");
  if (options.keep_checkpoint_max < 0)
    return fail(errc::invalid_argument, "keep_checkpoint_max cannot be " + std::to_string(options.keep_checkpoint_max));
  if (!(options.keep_checkpoint_every_n_hours > 0))
    return fail(errc::invalid_argument,
                "keep_checkpoint_every_n_hours cannot be " + std::to_string(options.keep_checkpoint_every_n_hours));
  if (options.shard_bytes_max < 1)
    return fail(errc::invalid_argument, "shard_bytes_max cannot be " + std::to_string(options.shard_bytes_max));
  auto i = std::make_unique<impl>();
  i->fs = std::move(fs);
  i->directory = std::move(directory);
  i->options = options;
  if (options.read_only) {
    const auto info = i->fs->info(i->directory);
    if (info && !info->directory)
      return fail(errc::failed_precondition, i->directory + " is a file, and a model directory is wanted there");
    if (!info && info.error().category != errc::not_found)
      return fail(info.error());  // The owner may create the directory later.
    return std::unique_ptr<checkpoint_store>{new checkpoint_store{std::move(i)}};
  }
  if (auto prepared = i->prepare_directory(); !prepared)
    return fail(std::move(prepared.error()));
  auto lock = i->fs->lock(i->directory);
  if (!lock)
    return fail(std::move(lock.error()));
  i->lock = std::move(*lock);
  if (claim)
    claim->held(i->lock);
  if (auto recovered = i->recover(); !recovered)
    return fail(std::move(recovered.error()));
  return std::unique_ptr<checkpoint_store>{new checkpoint_store{std::move(i)}};
}

std::vector<checkpoint_id> checkpoint_store::listed() const {
  const auto reading = impl_->read_state();
  return reading && reading->state ? reading->state->ids : impl_->list;
}

std::optional<checkpoint_id> checkpoint_store::newest() const {
  const auto reading = impl_->read_state();
  if (!reading || !reading->state
      || !impl_->fs->info(join_path(impl_->directory, manifest_name(reading->state->newest))))
    return {};
  return reading->state->newest;
}

void checkpoint_store::lease(checkpoint_id id) { ++impl_->leases[id]; }

expected<void> checkpoint_store::release(checkpoint_id id) {
  const auto held = impl_->leases.find(id);
  if (held == impl_->leases.end())
    return fail(errc::state, checkpoint_name(id) + " is not leased");
  if (--held->second > 0)
    return {};
  impl_->leases.erase(held);
  if (!impl_->doomed.contains(id))
    return {};
  if (const auto best = impl_->judged_best(); !best || *best == id)
    return {};
  return impl_->remove_doomed(id).map([](bool) {});
}

}  // namespace troupe
