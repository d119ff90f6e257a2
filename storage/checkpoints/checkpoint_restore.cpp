#include "storage/checkpoints/checkpoint_files.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/checkpoints/checkpoint_store_impl.hpp"

#include <algorithm>
#include <iterator>

namespace troupe {

namespace {

// The restore fails if a writer deletes everything between reading the list and the files, this many times.
constexpr int attempts_max = 8;

/// If a hand-edited state file names an older checkpoint as the newest, nothing of a later step or iteration is
/// restored instead.
bool lies_beyond(checkpoint_id id, checkpoint_id newest) {
  return id.step > newest.step || id.iteration > newest.iteration;
}

/// The checkpoints that a restore may try, in order. `ids` come from the state file or from a scan, oldest first. With
/// `newest` (from the state file), that one is tried first, then smaller steps; of one step, the last in the list.
/// Without it, `ids` come from a scan.
std::vector<checkpoint_id> candidates(std::vector<checkpoint_id> ids, std::optional<checkpoint_id> newest) {
  if (newest) {
    std::erase_if(ids, [&](checkpoint_id id) { return id == *newest || lies_beyond(id, *newest); });
    ids.push_back(*newest);
  }
  std::reverse(ids.begin(), ids.end());
  if (newest)
    std::stable_sort(ids.begin(), ids.end(), [](auto a, auto b) { return a.step > b.step; });
  return ids;
}

}  // namespace

std::string checkpoint_store::impl::advise(const std::vector<checkpoint_id>& listed) const {
  const auto complete = scan_complete();
  if (!complete)
    return {};
  std::string names;
  checkpoint_id newest;
  for (const auto id : *complete)
    if (std::find(listed.begin(), listed.end(), id) == listed.end()) {
      names += (names.empty() ? "" : ", ") + checkpoint_name(id);
      newest = id;
    }
  if (names.empty())
    return {};
  // `--step` would find the listed checkpoint instead.
  const bool hidden = std::any_of(listed.begin(), listed.end(),
                                  [&](checkpoint_id id) { return id.step == newest.step; });
  return "whole, but not listed in the state file: " + names + "; to go on from one of them, let "
         + join_path(directory, state_file_name) + " say model_checkpoint_path: \"" + checkpoint_name(newest)
         + "\" (a job without a state file takes the newest)"
         + (hidden ? "" : ", or evaluate and predict with --step " + std::to_string(newest.step));
}

/// "model.ckpt-5, model.ckpt-10": the newest ones.
std::string checkpoint_store::impl::names_of_whole() const {
  constexpr size_t named_max = 8;
  const auto all = scan_complete();
  if (!all || all->empty())
    return "no checkpoint";
  const auto first = all->size() > named_max ? all->end() - named_max : all->begin();
  std::string names = first == all->begin() ? "" : std::to_string(first - all->begin()) + " older ones, ";
  for (auto id = first; id != all->end(); ++id)
    names += (id == first ? "" : ", ") + checkpoint_name(*id);
  return names;
}

void checkpoint_store::impl::forget_warnings(const std::vector<std::string>& told) {
  std::erase_if(pending_warnings, [&](const auto& w) { return std::find(told.begin(), told.end(), w) != told.end(); });
}

/// A TensorFlow checkpoint of that name has no manifest, but is neither damaged nor missing.
error checkpoint_store::impl::why_not(checkpoint_id id, error unread) const {
  if (unread.category != errc::not_found)
    return unread;
  if (!fs->info(prefix(id) + ".index"))
    return {errc::not_found,
            "there is no " + join_path(directory, manifest_name(id)) + "; " + directory + " holds " + names_of_whole()};
  return {errc::failed_precondition, prefix(id) + " is a TensorFlow checkpoint: `troupe convert " + directory
                                       + " NEW_DIRECTORY` makes one of it that can be gone on from, and a warm "
                                         "start takes its variables as they are"};
}

expected<std::unique_ptr<checkpoint_reader>> checkpoint_store::impl::read(checkpoint_id id) const {
  // Takes the lease before the first check, so that a checkpoint found whole stays whole until the last read.
  auto lease = fs->hold(join_path(directory, manifest_name(id)));
  if (!lease)
    return fail(why_not(id, std::move(lease.error())));
  auto m = load_manifest(*fs, directory, id);
  if (!m)
    return fail(m.error());
  return checkpoint_reader::open(*fs, directory, std::move(*m), std::move(*lease), verified);
}

expected<std::unique_ptr<checkpoint_reader>> checkpoint_store::read_newest(
    const std::map<checkpoint_id, error>& damaged) const {
  auto& s = *impl_;
  for (int attempt = 1;; ++attempt) {
    auto reading = s.read_state();
    if (!reading)
      return fail(std::move(reading.error()));
    auto warnings = std::move(reading->warnings);
    auto ids = reading->state ? expected<std::vector<checkpoint_id>>{reading->state->ids} : s.scan();
    if (!ids)
      return fail(std::move(ids.error()));
    if (ids->empty() && damaged.empty())
      return fail(error{errc::not_found, s.directory + " holds no checkpoint", std::move(warnings)});
    // The damaged checkpoints were removed during the restore. This is not the error not_found: a job must not take the
    // directory for empty and start from step 0.
    if (ids->empty())
      return fail(error{errc::data_loss, s.directory + " held none but damaged checkpoints, and now holds none",
                        std::move(warnings)});
    if (!reading->state)
      warnings.push_back(s.directory
                         + " has no state file that can be used; its checkpoints were found by their names");
    const auto newest = reading->state ? std::optional{reading->state->newest} : std::nullopt;

    bool replaced = false;
    for (const auto id : candidates(*ids, newest)) {
      const auto known = damaged.find(id);
      auto opened = known == damaged.end() ? s.read(id) : fail(known->second);
      if (opened) {
        auto& told = (*opened)->warnings;
        s.forget_warnings(warnings);
        told.insert(told.begin(), std::make_move_iterator(warnings.begin()), std::make_move_iterator(warnings.end()));
        return opened;
      }
      if (!says_damaged(opened.error()))
        return opened;
      // This reader may not have the lock: meanwhile a writer may have committed a new checkpoint and deleted this one.
      const auto again = s.read_state();
      if (again && again->text != reading->text && attempt < attempts_max) {
        replaced = true;
        break;
      }
      warnings.push_back(checkpoint_name(id) + " is passed over: " + opened.error().message);
    }
    if (replaced)
      continue;
    for (const auto id : *ids)
      if (newest && lies_beyond(id, *newest))
        warnings.push_back(checkpoint_name(id) + " was not tried: the state file names an older one");
    if (reading->state)
      if (auto advice = s.advise(*ids); !advice.empty())
        warnings.push_back(std::move(advice));
    return fail(error{errc::data_loss, "no checkpoint of " + s.directory + " is whole", std::move(warnings)});
  }
}

expected<std::unique_ptr<checkpoint_reader>> checkpoint_store::read(checkpoint_id id) const { return impl_->read(id); }

expected<restored_checkpoint> checkpoint_store::restore_newest() const {
  for (std::map<checkpoint_id, error> damaged;;) {
    const auto reader = read_newest(damaged);
    if (!reader)
      return fail(reader.error());
    auto restored = (*reader)->all();
    if (restored || restored.error().category != errc::data_loss)
      return restored;
    damaged.emplace((*reader)->info().id, std::move(restored.error()));
  }
}

expected<restored_checkpoint> checkpoint_store::restore(checkpoint_id id) const {
  const auto reader = impl_->read(id);
  return reader ? (*reader)->all() : fail(reader.error());
}

expected<checkpoint_id> checkpoint_store::impl::newest_of(int64_t step) const {
  const auto reading = read_state();
  if (!reading)
    return fail(reading.error());
  const auto is_of_step = [step](checkpoint_id id) { return id.step == step; };
  const auto last_in = [&](const std::vector<checkpoint_id>& ids) {
    const auto found = std::find_if(ids.rbegin(), ids.rend(), is_of_step);
    return found == ids.rend() ? std::nullopt : std::optional{*found};
  };
  if (reading->state && is_of_step(reading->state->newest))
    return reading->state->newest;
  if (reading->state)
    if (const auto listed = last_in(reading->state->ids))
      return *listed;
  return scan().map([&](const auto& found) { return last_in(found).value_or(checkpoint_id{step}); });
}

expected<std::unique_ptr<checkpoint_reader>> checkpoint_store::read_step(int64_t step) const {
  for (int attempt = 1;; ++attempt) {
    const auto wanted = impl_->newest_of(step);
    if (!wanted)
      return fail(wanted.error());
    auto opened = impl_->read(*wanted);
    // This reader may not have the lock: meanwhile a writer may have committed another checkpoint of the step and
    // deleted this one.
    if (opened || !says_damaged(opened.error()) || attempt == attempts_max || impl_->newest_of(step) == *wanted)
      return opened;
  }
}

expected<restored_checkpoint> checkpoint_store::restore_step(int64_t step) const {
  const auto reader = read_step(step);
  return reader ? (*reader)->all() : fail(reader.error());
}

expected<checkpoint_info> checkpoint_store::inspect(checkpoint_id id) const {
  auto m = load_manifest(*impl_->fs, impl_->directory, id);
  if (!m)
    return fail(impl_->why_not(id, std::move(m.error())));
  return checkpoint_info{
      id, impl_->prefix(id), std::move(m->tensors), std::move(m->blobs), std::move(m->properties), m->wall_time};
}

expected<checkpoint_info> checkpoint_store::inspect_newest() const {
  const auto reading = impl_->read_state();
  if (!reading)
    return fail(reading.error());
  const auto ids = reading->state ? expected<std::vector<checkpoint_id>>{reading->state->ids} : impl_->scan();
  if (!ids)
    return fail(ids.error());
  for (const auto id : candidates(*ids, reading->state ? std::optional{reading->state->newest} : std::nullopt))
    if (auto found = inspect(id); found || !says_damaged(found.error()))
      return found;
  if (ids->empty())
    return fail(errc::not_found, impl_->directory + " holds no checkpoint");
  return fail(errc::data_loss, "no manifest of " + impl_->directory + " is whole");
}

}  // namespace troupe
