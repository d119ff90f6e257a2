#include "storage/checkpoints/checkpoint_files.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/checkpoints/state_file.hpp"
#include "storage/events/event_log.hpp"
#include "storage/examination/examination.hpp"
#include "storage/runs/run_record.hpp"

#include <algorithm>

namespace troupe {

namespace {

// If a writer replaces its list this many times, the last description counts, even with damage.
constexpr int looks_max = 8;
constexpr int depth_max = 4;  // Deeper directories are not ours, or belong to a cycle of links.

bool is_event_file(std::string_view name) { return name.find("tfevents") != std::string_view::npos; }

/// Adds to the description the total size and the event files in `below` and deeper. `below` is relative to the
/// description's path.
expected<void> add_files(file_system& fs, directory_description& description, const std::string& below, int depth) {
  const auto files = fs.list(join_path(description.path, below));
  if (!files)
    return fail(files.error());
  for (const auto& f : *files) {
    const std::string name = below.empty() ? f.name : join_path(below, f.name);
    if (!f.directory) {
      description.bytes += f.size;
      if (is_event_file(f.name))
        description.event_files.push_back(name);
    } else if (depth < depth_max) {
      if (auto added = add_files(fs, description, name, depth + 1); !added)
        description.warnings.push_back(added.error().message);
    }
  }
  return {};
}

bool is_scalar(const tag_description& t) { return t.last && t.last->what == summary_value::kind::scalar; }

/// Adds the scalars of the last step in the newest event file of each "eval" and "eval_<name>".
void add_evaluations(file_system& fs, directory_description& description) {
  std::map<std::string, std::string> newest;
  for (const auto& f : description.event_files)
    if (const auto folder = f.substr(0, f.find('/')); folder != f && (folder == "eval" || folder.starts_with("eval_")))
      newest[folder] = std::max(newest[folder], f);  // Names of event files sort by age.
  for (const auto& [folder, name] : newest) {
    const auto events = examine_event_file(fs, join_path(description.path, name));
    if (!events) {
      description.warnings.push_back(events.error().message);
      continue;
    }
    for (const auto& d : events->damages)
      description.warnings.push_back(d.file + " is damaged: " + d.reason);
    int64_t step = -1;
    for (const auto& t : events->tags)
      step = is_scalar(t) ? std::max(step, t.last_step) : step;
    for (const auto& t : events->tags)
      if (is_scalar(t) && t.last_step == step)
        description.evaluations[folder][t.tag] = t.last->scalar;
    if (step >= 0)
      description.evaluations[folder]["global_step"] = static_cast<double>(step);
  }
}

void add_record(file_system& fs, directory_description& description) {
  auto record = load_run_record(fs, description.path);
  if (record)
    description.record = std::move(*record);
  else if (record.error().category != errc::not_found)
    description.warnings.push_back(record.error().message);
}

/// Reads the state file; absent, with a warning, if it cannot be parsed.
expected<std::optional<checkpoint_state>> read_state(file_system& fs, directory_description& description) {
  const std::string path = join_path(description.path, state_file_name);
  const auto text = read_file(fs, path);
  if (!text && text.error().category == errc::not_found)
    return std::nullopt;
  if (!text && text.error().category != errc::data_loss)
    return fail(text.error());
  auto state = text ? parse_state_file(*text, path) : fail(text.error());
  if (!state) {
    description.warnings.push_back(state.error().message);
    return std::nullopt;
  }
  description.warnings.insert(description.warnings.end(), state->warnings.begin(), state->warnings.end());
  description.newest = state->newest;
  return std::optional{std::move(*state)};
}

/// Absent if the checkpoint was deleted meanwhile.
std::optional<checkpoint_entry> examine_entry(file_system& fs, const std::string& directory, checkpoint_id id,
                                              const std::optional<checkpoint_state>& state,
                                              const std::set<checkpoint_id>& listed, bool owned,
                                              const inspect_options& options) {
  checkpoint_entry entry{.id = id};
  if (state) {
    entry.listed = listed.contains(id);
    entry.preserved = state->retention.preserved.contains(id);
  }
  const std::string prefix = join_path(directory, checkpoint_name(id));
  entry.foreign = is_tensorflow_checkpoint(fs, prefix);
  const inspect_options how{.verify = options.verify};
  const auto found = entry.foreign ? examine_tensorflow(fs, prefix, how) : examine_checkpoint(fs, directory, id, how);
  if (!found && !entry.listed && found.error().category == errc::not_found)
    return {};
  if (found) {
    const bool has_manifest = std::find(found->files.begin(), found->files.end(), manifest_name(id))
                              != found->files.end();
    // The owner may be deleting it: its files disappear one by one.
    const bool in_hand = owned && !entry.preserved && !found->damages.empty();
    entry.unfinished = !entry.foreign && !entry.listed && (state || owned) && (!has_manifest || in_hand);
    entry.wall_time = found->wall_time;
    entry.bytes = found->bytes;
    if (!entry.unfinished)
      entry.damages = found->damages;
  } else {
    const bool unreadable = found.error().category != errc::data_loss && found.error().category != errc::not_found;
    entry.damages.push_back({join_path(directory, manifest_name(id)), "", {}, found.error().message, unreadable});
  }
  if (entry.wall_time == 0 && state && state->retention.saved_at.contains(id))
    entry.wall_time = state->retention.saved_at.at(id);
  return entry;
}

expected<directory_description> examine_once(file_system& fs, const std::string& directory,
                                             const inspect_options& options) {
  const auto info = fs.info(directory);
  if (!info)
    return fail(info.error());
  if (!info->directory)
    return fail(errc::failed_precondition, directory + " is a file, and a model directory is wanted there");
  directory_description description{.path = directory, .verified = options.verify};
  if (auto added = add_files(fs, description, "", 0); !added)
    return fail(std::move(added.error()));
  add_evaluations(fs, description);
  add_record(fs, description);
  const auto state = read_state(fs, description);
  if (!state)
    return fail(state.error());
  auto ids = ids_with_files(fs, directory);
  if (!ids)
    return fail(ids.error());
  auto foreign = tensorflow_ids(fs, directory);
  if (!foreign)
    return fail(foreign.error());
  ids->merge(*foreign);
  // After the files are listed: if a process has written a shard of its first save by then, it has owned the directory
  // for longer.
  if (auto owner = fs.lock_owner(directory))
    description.owner = std::move(*owner);
  std::set<checkpoint_id> listed;
  if (*state)
    listed.insert((*state)->ids.begin(), (*state)->ids.end());
  ids->insert(listed.begin(), listed.end());
  if (!*state && !ids->empty())
    description.warnings.push_back(
        directory + " has no state file that can be used: a job would go on from the newest that is whole");
  for (const auto id : *ids)
    if (auto entry = examine_entry(fs, directory, id, *state, listed, description.owner.has_value(), options))
      description.checkpoints.push_back(std::move(*entry));
  return description;
}

std::string state_text(file_system& fs, const std::string& directory) {
  return read_file(fs, join_path(directory, state_file_name)).value_or("");
}

}  // namespace

expected<directory_description> examine_directory(file_system& fs, const std::string& directory,
                                                  const inspect_options& options) {
  for (int attempt = 1;; ++attempt) {
    const auto before = state_text(fs, directory);
    auto description = examine_once(fs, directory, options);
    const auto is_whole = [](const checkpoint_entry& c) { return c.damages.empty(); };
    const bool sound = description
                       && std::all_of(description->checkpoints.begin(), description->checkpoints.end(), is_whole);
    // A checkpoint that a running job deletes meanwhile looks damaged. If the list has changed, examines again.
    if (sound || attempt == looks_max || state_text(fs, directory) == before)
      return description;
  }
}

}  // namespace troupe
