#include "storage/checkpoints/checkpoint_files.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/checkpoints/checkpoint_store_impl.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr int attempts_max = 8;  // Fails if a writer evicts everything between list and files each time.

/// The steps that a restore may try, in order. An older one has a smaller step: where a hand-edited state file goes
/// back, later steps are never restored instead.
std::vector<int64_t> candidates(std::vector<int64_t> steps, std::optional<int64_t> newest) {
  if (newest)
    std::erase_if(steps, [&](int64_t step) { return step > *newest; });
  std::sort(steps.begin(), steps.end(), std::greater<>{});
  return steps;
}

}  // namespace

std::string checkpoint_store::impl::advise(const std::vector<int64_t>& listed) const {
  const auto complete = scan_complete();
  if (!complete)
    return {};
  std::string names;
  int64_t newest = -1;
  for (const int64_t step : *complete)
    if (std::find(listed.begin(), listed.end(), step) == listed.end()) {
      names += (names.empty() ? "" : ", ") + checkpoint_name(step);
      newest = step;
    }
  if (names.empty())
    return {};
  return "whole, but not listed in the state file: " + names + "; to go on from one of them, let " + join_path(directory, state_file_name)
         + " say model_checkpoint_path: \"" + checkpoint_name(newest)
         + "\" (a job without a state file takes the newest), or evaluate and predict with --step " + std::to_string(newest);
}

void checkpoint_store::impl::forget_warnings(const std::vector<std::string>& told) {
  std::erase_if(pending_warnings, [&](const auto& w) { return std::find(told.begin(), told.end(), w) != told.end(); });
}

expected<restored_checkpoint> checkpoint_store::impl::load(int64_t step) const {
  // Taken before the first examination: what is found whole stays so until the last one.
  auto lease = fs->hold(join_path(directory, manifest_name(step)));
  if (!lease)
    return fail(std::move(lease.error()));
  const auto m = load_manifest(*fs, directory, step);
  if (!m)
    return fail(m.error());
  auto content = load_checkpoint_files(*fs, directory, *m);
  if (!content)
    return fail(std::move(content.error()));
  return restored_checkpoint{std::move(*content), prefix(step), {}, std::move(*lease)};
}

expected<restored_checkpoint> checkpoint_store::restore_newest() const {
  auto& s = *impl_;
  for (int attempt = 1;; ++attempt) {
    auto reading = s.read_state();
    if (!reading)
      return fail(std::move(reading.error()));
    auto warnings = std::move(reading->warnings);
    auto steps = reading->state ? expected<std::vector<int64_t>>{reading->state->steps} : s.scan();
    if (!steps)
      return fail(std::move(steps.error()));
    if (steps->empty())
      return fail(error{errc::not_found, s.directory + " holds no checkpoint", std::move(warnings)});
    if (!reading->state)
      warnings.push_back(s.directory + " has no state file that can be used; its checkpoints were found by their names");
    const auto newest = reading->state ? std::optional{reading->state->newest} : std::nullopt;

    bool replaced = false;
    for (const int64_t step : candidates(*steps, newest)) {
      auto loaded = s.load(step);
      if (loaded) {
        s.forget_warnings(warnings);
        loaded->warnings = std::move(warnings);
        return loaded;
      }
      if (!says_damaged(loaded.error()))
        return loaded;
      // While a reader without the lock read, a writer may have committed and deleted.
      const auto again = s.read_state();
      if (again && again->text != reading->text && attempt < attempts_max) {
        replaced = true;
        break;
      }
      warnings.push_back(checkpoint_name(step) + " is passed over: " + loaded.error().message);
    }
    if (replaced)
      continue;
    for (const int64_t step : *steps)
      if (newest && step > *newest)
        warnings.push_back(checkpoint_name(step) + " was not tried: the state file names an older one");
    if (reading->state)
      if (auto advice = s.advise(*steps); !advice.empty())
        warnings.push_back(std::move(advice));
    return fail(error{errc::data_loss, "no checkpoint of " + s.directory + " is whole", std::move(warnings)});
  }
}

expected<restored_checkpoint> checkpoint_store::restore(int64_t step) const {
  return impl_->load(step);
}

expected<checkpoint_info> checkpoint_store::inspect(int64_t step) const {
  auto m = load_manifest(*impl_->fs, impl_->directory, step);
  if (!m)
    return fail(std::move(m.error()));
  return checkpoint_info{step, impl_->prefix(step), std::move(m->tensors), std::move(m->blobs), std::move(m->properties), m->wall_time};
}

}  // namespace troupe
