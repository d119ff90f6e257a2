#include "storage/checkpoints/state_file.hpp"

#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/encodings/text_format.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <set>

namespace troupe {

namespace {

constexpr std::string_view preserved_mark = "# preserved: ";
constexpr std::string_view doomed_mark = "# doomed: ";

/// The fields of TensorFlow's CheckpointState. Fields of later versions are ignored.
struct state_fields {
  std::string model_checkpoint_path;  ///< The newest checkpoint, relative to the directory of the state file.
  /// All listed checkpoints, oldest first; the last is `model_checkpoint_path`.
  std::vector<std::string> all_model_checkpoint_paths;
  /// Unix times in seconds: of each path, in the same order; then of the newest preserved checkpoint.
  std::vector<double> all_model_checkpoint_timestamps;
  double last_preserved_timestamp = 0;
};

/// Parses a doomed checkpoint and `file_info::changed` of its manifest: "model.ckpt-700 1758000000250000000".
void parse_doomed(std::string_view line, std::map<checkpoint_id, int64_t>& into) {
  const size_t space = std::min(line.find(' '), line.size());
  const auto id = id_of_checkpoint(line.substr(0, space));
  const auto digits = line.substr(std::min(space + 1, line.size()));
  int64_t changed = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), changed);
  if (id && code == std::errc{} && end == digits.data() + digits.size())
    into[*id] = changed;
}

/// The part of the retention state that is kept in comments.
retention_state parse_comments(std::string_view text) {
  retention_state retention;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const auto line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with(doomed_mark))
      parse_doomed(line.substr(doomed_mark.size()), retention.doomed);
    else if (line.starts_with(preserved_mark))
      if (const auto id = id_of_checkpoint(line.substr(preserved_mark.size())))
        retention.preserved.insert(*id);
  }
  return retention;
}

/// The whole retention state. Save times are used only if there are as many as paths, and for paths that name
/// checkpoints.
retention_state parse_retention(const state_fields& state, std::string_view text) {
  auto retention = parse_comments(text);
  if (state.last_preserved_timestamp > 0)
    retention.last_preserved = state.last_preserved_timestamp;
  const auto& paths = state.all_model_checkpoint_paths;
  const auto& times = state.all_model_checkpoint_timestamps;
  for (size_t i = 0; paths.size() == times.size() && i < paths.size(); ++i)
    if (const auto id = id_of_checkpoint(paths[i]))
      retention.saved_at[*id] = times[i];
  return retention;
}

/// Reads one value of a field. Error: invalid_argument.
expected<void> read_field(text_field field, state_fields& into) {
  const bool newest = field.name == "model_checkpoint_path", listed = field.name == "all_model_checkpoint_paths",
             saved = field.name == "all_model_checkpoint_timestamps",
             preserved = field.name == "last_preserved_timestamp";
  const auto refused = [&field](const std::string& why) {
    return fail(errc::invalid_argument, "line " + std::to_string(field.line) + ", column "
                                            + std::to_string(field.column) + ": " + field.name + why);
  };
  if ((newest || listed) && !field.quoted)
    return refused(" must be a string, not " + field.value);
  if (newest && !into.model_checkpoint_path.empty())
    return refused(" is given twice");
  if (newest)
    into.model_checkpoint_path = std::move(field.value);
  else if (listed)
    into.all_model_checkpoint_paths.push_back(std::move(field.value));
  if (!saved && !preserved)
    return {};
  const auto time = text_format_double(field);
  if (!time)
    return fail(time.error());
  if (saved)
    into.all_model_checkpoint_timestamps.push_back(*time);
  else
    into.last_preserved_timestamp = *time;
  return {};
}

/// The fields as written in the file. The newest path is not empty.
expected<state_fields> parse_text(const std::string& text, const std::string& path) {
  state_fields state;
  const auto refused = [&path](const error& why) {
    return fail(errc::data_loss, "cannot understand the state file " + path + ": " + why.message);
  };
  auto fields = parse_text_format(text);
  if (!fields)
    return refused(fields.error());
  for (auto& field : *fields)
    if (const auto read = read_field(std::move(field), state); !read)
      return refused(read.error());
  if (state.model_checkpoint_path.empty())
    return fail(errc::data_loss, "the state file " + path + " has no model_checkpoint_path");
  return state;
}

/// Leaves the last of each: a checkpoint that is saved again moves to the end of the list.
void drop_repeated(std::vector<checkpoint_id>& ids) {
  std::set<checkpoint_id> seen;
  std::reverse(ids.begin(), ids.end());
  std::erase_if(ids, [&](checkpoint_id id) { return !seen.insert(id).second; });
  std::reverse(ids.begin(), ids.end());
}

}  // namespace

std::string write_state_file(const std::vector<checkpoint_id>& ids, const retention_state& retention) {
  assert(!ids.empty());
  const auto known = [&](checkpoint_id id) { return retention.saved_at.contains(id); };
  // Checkpoint names need no escapes.
  std::string text = "model_checkpoint_path: \"" + checkpoint_name(ids.back()) + "\"\n";
  for (const auto id : ids)
    text += "all_model_checkpoint_paths: \"" + checkpoint_name(id) + "\"\n";
  if (std::all_of(ids.begin(), ids.end(), known))
    for (const auto id : ids)
      text += "all_model_checkpoint_timestamps: " + to_text_format(retention.saved_at.at(id)) + "\n";
  if (retention.last_preserved)
    text += "last_preserved_timestamp: " + to_text_format(*retention.last_preserved) + "\n";
  for (const auto id : retention.preserved)
    text += std::string{preserved_mark} + checkpoint_name(id) + "\n";
  for (const auto& [id, changed] : retention.doomed)
    text += std::string{doomed_mark} + checkpoint_name(id) + " " + std::to_string(changed) + "\n";
  return text;
}

expected<checkpoint_state> parse_state_file(const std::string& text, const std::string& path) {
  const auto parsed = parse_text(text, path);
  if (!parsed)
    return fail(parsed.error());
  const auto& state = *parsed;
  checkpoint_state result{.retention = parse_retention(state, text)};
  for (const auto& entry : state.all_model_checkpoint_paths) {
    const auto id = id_of_checkpoint(entry);
    if (!id) {
      result.warnings.push_back(path + " lists \"" + entry + "\", which is not called like a checkpoint");
      continue;
    }
    result.ids.push_back(*id);
  }
  drop_repeated(result.ids);
  const auto newest = id_of_checkpoint(state.model_checkpoint_path);
  if (newest) {
    result.newest = *newest;
    if (std::find(result.ids.begin(), result.ids.end(), *newest) == result.ids.end())
      result.ids.push_back(*newest);
    return result;
  }
  // The newest path does not name a checkpoint; the list may still be usable.
  result.warnings.push_back(path + " names \"" + state.model_checkpoint_path
                            + "\" as the newest, which is not called like a checkpoint");
  if (result.ids.empty())
    return fail(errc::data_loss, "the state file " + path + " names \"" + state.model_checkpoint_path
                                     + "\", which is not called like a checkpoint");
  result.newest = result.ids.back();
  return result;
}

expected<std::string> parse_newest_path(const std::string& text, const std::string& path) {
  return parse_text(text, path).map([](const state_fields& state) { return state.model_checkpoint_path; });
}

}  // namespace troupe
