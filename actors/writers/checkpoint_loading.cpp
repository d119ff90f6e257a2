#include "actors/writers/checkpoint_loading.hpp"

#include "actors/writers/start_values.hpp"
#include "compute/optimizers/update.hpp"
#include "storage/checkpoints/best_in_use.hpp"

#include <algorithm>

namespace troupe {

namespace {
bool by_name(const component& a, const component& b) { return a.name < b.name; }
}  // namespace

std::vector<component> wanted_tensors(layouts groups) {
  std::vector<component> wanted;
  for (const auto& group : groups)
    for (const auto& e : group.layout->entries())
      wanted.push_back({e.name, e.type, e.dims});
  wanted.push_back({std::string{global_step_name}, dtype::int64, {}});
  std::sort(wanted.begin(), wanted.end(), by_name);
  return wanted;
}

namespace {

expected<void> fill(parameter_store& store, const restored_checkpoint& from) {
  const auto& layout = store.layout();
  for (const auto& t : from.content.tensors)
    if (layout.find(t.name) >= 0)
      if (auto done = store.assign(t.name, t.value); !done)
        return done;
  if (!layout.reads_averages())
    return {};
  const std::string ending = "/" + std::string{moving_average_slot};
  for (const auto& t : from.content.tensors)
    if (const std::string variable = t.name.substr(0, t.name.size() - std::min(t.name.size(), ending.size()));
        t.name.ends_with(ending) && layout.find(variable) >= 0)
      if (auto done = store.assign(variable, t.value); !done)
        return done;
  return {};
}

/// Writes what `start` has over the initial values.
expected<loaded_state> fill(parameter_store& store, const start_values& start, uint64_t seed, const group_layout& layout) {
  const auto values = start.read({&layout, 1}, seed);
  if (!values)
    return fail(values.error());
  for (const auto& t : values->tensors)
    if (auto done = store.assign(t.name, t.value); !done)
      return fail(std::move(done.error()));
  return loaded_state{.id = {values->step}};
}

}  // namespace

expected<void> check_tensors(layouts groups, const restored_checkpoint& from, bool exact) {
  const auto wanted = wanted_tensors(groups);
  checkpoint_info found{from.content.id, from.prefix, {}, {}, {}};
  for (const auto& t : from.content.tensors)
    if (exact || std::binary_search(wanted.begin(), wanted.end(), component{.name = t.name}, by_name))
      found.tensors.push_back({t.name, t.value.type(), t.value.dims(), 0, {}, 0, 0});
  if (auto all = differences(wanted, found); !all.empty()) {
    error e{errc::failed_precondition, from.prefix + " is a checkpoint of another model: " + std::to_string(all.size())
                                         + (all.size() == 1 ? " variable differs: " : " variables differ: ")};
    for (size_t i = 0; i < all.size(); ++i)
      e.message += (i ? "; " : "") + all[i];
    return fail(std::move(e));
  }
  return {};
}

expected<void> load_into(const std::shared_ptr<parameter_store>& store, const restored_checkpoint& from) {
  const group_layout all{{}, {store, &store->layout()}};
  return check_tensors({&all, 1}, from, false).and_then([&] { return fill(*store, from); });
}

expected<loaded_state> load_or_initialise(const std::shared_ptr<file_system>& files, const std::string& directory,
                                          checkpoint_choice which, uint64_t seed, const std::shared_ptr<parameter_store>& store,
                                          const start_values* start) {
  const auto initialised = [&](const error& why) -> expected<loaded_state> {
    if (why.category != errc::not_found || which.step >= 0)
      return fail(why);
    store->initialise(seed);
    return start ? fill(*store, *start, seed, {{}, {store, &store->layout()}}) : loaded_state{};
  };
  if (directory.empty())
    return initialised({errc::not_found, "without a model_dir there is no checkpoint of step " + std::to_string(which.step)});
  auto opened = checkpoint_store::open(files, directory, {.read_only = true});
  if (!opened)
    return initialised(opened.error());
  const auto& checkpoints = **opened;
  const auto best = which.step < 0 ? best_in_use(checkpoints) : std::nullopt;
  auto found = best                  ? checkpoints.restore(*best)
               : which.step < 0      ? checkpoints.restore_newest()
               : which.iteration < 0 ? checkpoints.restore_step(which.step)
                                     : checkpoints.restore({which.step, which.iteration});
  if (!found)
    return initialised(found.error());
  if (auto loaded = load_into(store, *found); !loaded)
    return fail(loaded.error());
  return loaded_state{found->content.id, found->prefix, found->warnings, found->lease};
}

}  // namespace troupe
