#include "actors/writers/checkpoint_loading.hpp"

#include "actors/writers/start_values.hpp"
#include "actors/writers/state_parts.hpp"
#include "compute/optimizers/update.hpp"
#include "compute/parameters/assign_range.hpp"
#include "storage/checkpoints/best_checkpoint.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace troupe {

namespace {
bool by_name(const component& a, const component& b) { return a.name < b.name; }
}  // namespace

stored_group stored_of(const parameter_layout& layout, group_id group, std::string name) {
  stored_group all{group, std::move(name), {}};
  for (const auto& e : layout.entries())
    all.entries.push_back(
        {e.name, e.type, {e.dims.extents().begin(), e.dims.extents().end()}, e.trainable, e.slot, e.carried});
  std::sort(all.entries.begin(), all.entries.end(),
            [](const stored_entry& a, const stored_entry& b) { return a.name < b.name; });
  return all;
}

const stored_entry* find_entry(const stored_group& in, std::string_view name) {
  const auto e = std::lower_bound(in.entries.begin(), in.entries.end(), name,
                                  [](const stored_entry& x, std::string_view n) { return x.name < n; });
  return e == in.entries.end() || e->name != name ? nullptr : &*e;
}

std::vector<component> wanted_tensors(stored_groups groups) {
  std::vector<component> wanted;
  for (const auto& group : groups)
    for (const auto& e : group.entries)
      wanted.push_back({e.name, e.type, shape{std::span<const int64_t>{e.dims}}});
  wanted.push_back({std::string{global_step_name}, dtype::int64, {}});
  std::sort(wanted.begin(), wanted.end(), by_name);
  return wanted;
}

namespace {

/// For each tensor of the checkpoint its entry in the store, or -1. A layout that reads averages belongs to an
/// evaluation and has no slots.
std::vector<int32_t> entries_for(const parameter_layout& layout, const std::vector<stored_tensor_info>& tensors) {
  const std::string ending = "/" + std::string{moving_average_slot};
  std::vector<int32_t> entries;
  std::set<int32_t> averaged;
  for (const auto& t : tensors) {
    const bool average = layout.reads_averages() && t.name.ends_with(ending);
    const auto variable = average ? layout.find(t.name.substr(0, t.name.size() - ending.size())) : -1;
    if (variable >= 0)
      averaged.insert(variable);
    entries.push_back(variable >= 0 ? variable : layout.find(t.name));
  }
  for (size_t i = 0; i < tensors.size(); ++i)
    if (averaged.contains(entries[i]) && !tensors[i].name.ends_with(ending))
      entries[i] = -1;
  return entries;
}

expected<void> fill(parameter_store& store, checkpoint_reader& from) {
  const auto entries = entries_for(store.layout(), from.info().tensors);
  for (;;) {
    const auto piece = from.next(state_parts::bytes_max);
    if (!piece)
      return fail(piece.error());
    if (!*piece)
      return {};
    const auto& [index, first, elements] = **piece;
    if (entries[index] < 0)
      continue;
    if (auto done = assign_range(store, store.layout().entries()[static_cast<size_t>(entries[index])].name, first,
                                 elements);
        !done)
      return done;
  }
}

/// Initialises the store, then overwrites it with the values of `start`.
expected<loaded_state> fill(parameter_store& store, const start_values& start, uint64_t seed,
                            const group_layout& layout) {
  const auto values = start.read({&layout, 1}, seed);
  if (!values)
    return fail(values.error());
  for (const auto& t : values->tensors)
    if (auto done = store.assign(t.name, t.value); !done)
      return fail(std::move(done.error()));
  return loaded_state{.id = {values->step}};
}

/// The carried states that differ in the number of their rows alone: the same model was trained with other batches.
std::vector<std::string> of_other_batches(stored_groups groups, const checkpoint_info& found) {
  std::vector<std::string> all;
  for (const auto& group : groups)
    for (const auto& e : group.entries)
      for (const auto& t : found.tensors) {
        const auto has = t.dims.extents();
        if (e.carried && t.name == e.name && t.type == e.type && has.size() == e.dims.size()
            && std::equal(has.begin() + 1, has.end(), e.dims.begin() + 1) && has[0] != e.dims[0])
          all.push_back("the state '" + e.name + "' has " + std::to_string(has[0]) + " rows " + to_text(t.dims)
                        + " there, and " + std::to_string(e.dims[0]) + " "
                        + to_text(shape{std::span<const int64_t>{e.dims}}) + " here");
      }
  return all;
}

}  // namespace

expected<void> check_tensors(stored_groups groups, const checkpoint_info& from, bool exact,
                             std::span<const std::string> numbers) {
  const auto wanted = wanted_tensors(groups);
  checkpoint_info found{.id = from.id, .prefix = from.prefix};
  for (const auto& t : from.tensors) {
    const bool counts = exact && std::find(numbers.begin(), numbers.end(), t.name) == numbers.end();
    if (counts || std::binary_search(wanted.begin(), wanted.end(), component{.name = t.name}, by_name))
      found.tensors.push_back(t);
  }
  if (auto all = differences(wanted, found); !all.empty()) {
    if (const auto rows = of_other_batches(groups, found); rows.size() == all.size())
      return fail(errc::failed_precondition, from.prefix + " was saved with another batch size: "
                                                 + joined(rows, "; ", [](const auto& x) { return x; }));
    error e{errc::failed_precondition, from.prefix + " is a checkpoint of another model: " + std::to_string(all.size())
                                           + (all.size() == 1 ? " variable differs: " : " variables differ: ")};
    for (size_t i = 0; i < all.size(); ++i)
      e.message += (i ? "; " : "") + all[i];
    return fail(std::move(e));
  }
  return {};
}

expected<void> check_growth(stored_groups groups, const stored_growth& growth, const checkpoint_info& from) {
  std::vector<stored_group> before{groups.begin(), groups.end()};
  std::set<std::tuple<std::string, dtype, std::vector<int64_t>>> taken;
  for (auto& g : before) {
    std::erase_if(g.entries, [&](const stored_entry& e) { return growth.is_fresh(e.name); });
    for (auto& e : g.entries)
      e.name = growth.before(e.name);
    std::erase_if(g.entries, [&](const stored_entry& e) {  // Several may begin from one tensor if they are alike.
      return !taken.emplace(e.name, e.type, e.dims).second;
    });
  }
  auto kept = checkpoint_info{.id = from.id, .prefix = from.prefix, .tensors = from.tensors};
  std::erase_if(kept.tensors, [&](const auto& t) { return growth.drops(t.name); });
  return check_tensors(before, kept, !growth.drops_rest);
}

expected<void> load_into(const std::shared_ptr<parameter_store>& store, checkpoint_reader& from) {
  const auto all = stored_of(store->layout());
  return check_tensors({&all, 1}, from.info(), false).and_then([&] { return fill(*store, from); });
}

expected<void> load_present(const std::shared_ptr<parameter_store>& store, checkpoint_reader& from, uint64_t seed) {
  auto present = stored_of(store->layout());
  std::set<std::string_view> stored;
  for (const auto& t : from.info().tensors)
    stored.insert(t.name);
  std::erase_if(present.entries, [&](const stored_entry& e) { return !stored.contains(e.name); });
  return check_tensors({&present, 1}, from.info(), false).and_then([&] {
    store->initialise(seed);
    return fill(*store, from);
  });
}

/// The step that is stored beside the variables.
static int64_t global_step_in(const checkpoint_reader& from) {
  const auto stored = from.one(std::string{global_step_name});
  const bool is_step = stored && *stored && (*stored)->type() == dtype::int64 && (*stored)->elements() == 1;
  return is_step ? (*stored)->as<int64_t>()[0] : from.info().id.step;
}

expected<loaded_state> load_or_initialise(const std::shared_ptr<file_system>& files, const std::string& directory,
                                          checkpoint_choice which, uint64_t seed,
                                          const std::shared_ptr<parameter_store>& store, const start_values* start,
                                          completeness state) {
  const auto initialised = [&](const error& why) -> expected<loaded_state> {
    if (why.category != errc::not_found || which.step >= 0 || which.best)
      return fail(why);
    store->initialise(seed);
    return start ? fill(*store, *start, seed, {{}, {store, &store->layout()}}) : loaded_state{};
  };
  if (directory.empty())
    return initialised({errc::not_found, which.best ? "without a model_dir there is no best checkpoint"
                                                    : "without a model_dir there is no checkpoint of step "
                                                          + std::to_string(which.step)});
  auto opened = checkpoint_store::open(files, directory, {.read_only = true});
  if (!opened)
    return initialised(opened.error());
  const auto& checkpoints = **opened;
  const auto find_best = [&]() -> expected<std::optional<checkpoint_id>> {
    if (which.best)
      return best_kept(checkpoints, directory).map([](checkpoint_id id) { return std::optional{id}; });
    return which.step < 0 ? best_in_use(checkpoints) : std::nullopt;
  };
  auto wanted = find_best();
  if (!wanted)
    return fail(wanted.error());
  auto best = *wanted;
  for (std::map<checkpoint_id, error> damaged;;) {
    const auto found = best                  ? checkpoints.read(*best)
                       : which.step < 0      ? checkpoints.read_newest(damaged)
                       : which.iteration < 0 ? checkpoints.read_step(which.step)
                                             : checkpoints.read({which.step, which.iteration});
    if (!found && best) {
      // A training job has found a better one meanwhile.
      if (const auto meanwhile = find_best(); meanwhile && *meanwhile != best) {
        best = *meanwhile;
        continue;
      }
      auto why = found.error();
      if (!which.best)
        why.notes.push_back("the newest checkpoint says that the best one, of step " + to_string(*best)
                            + ", is to be used");
      return fail(std::move(why));
    }
    if (!found)
      return initialised(found.error());
    auto& reader = **found;
    const auto loaded = state == completeness::whole ? load_into(store, reader) : load_present(store, reader, seed);
    if (loaded)
      return loaded_state{reader.info().id, reader.info().prefix, std::move(reader.warnings), reader.lease(),
                          global_step_in(reader)};
    if (best || which.step >= 0 || loaded.error().category != errc::data_loss)
      return fail(loaded.error());
    damaged.emplace(reader.info().id, loaded.error());
  }
}

}  // namespace troupe
