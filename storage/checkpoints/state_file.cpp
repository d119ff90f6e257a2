#include "storage/checkpoints/state_file.hpp"

#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/proto/checkpoint_state.pb.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cassert>
#include <charconv>

namespace troupe {

namespace {

constexpr std::string_view preserved_mark = "# preserved: ";
constexpr std::string_view doomed_mark = "# doomed: ";
constexpr int depth_max = 100;  // In unknown fields the parser would descend as deep as the file nests.

/// "model.ckpt-700 1758000000250000000"
void parse_doomed(std::string_view line, std::map<checkpoint_id, int64_t>& into) {
  const size_t space = std::min(line.find(' '), line.size());
  const auto id = id_of_checkpoint(line.substr(0, space));
  const auto digits = line.substr(std::min(space + 1, line.size()));
  int64_t changed = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), changed);
  if (id && code == std::errc{} && end == digits.data() + digits.size())
    into[*id] = changed;
}

/// The marks kept in comments.
retention_marks parse_comments(std::string_view text) {
  retention_marks marks;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const auto line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with(doomed_mark))
      parse_doomed(line.substr(doomed_mark.size()), marks.doomed);
    else if (line.starts_with(preserved_mark))
      if (const auto id = id_of_checkpoint(line.substr(preserved_mark.size())))
        marks.preserved.insert(*id);
  }
  return marks;
}

/// The save times of those paths that name checkpoints; none when there are not as many times as paths.
retention_marks parse_marks(const proto::CheckpointState& state, std::string_view text) {
  auto marks = parse_comments(text);
  if (state.last_preserved_timestamp() > 0)
    marks.last_preserved = state.last_preserved_timestamp();
  const auto& paths = state.all_model_checkpoint_paths();
  const auto& times = state.all_model_checkpoint_timestamps();
  for (int i = 0; paths.size() == times.size() && i < paths.size(); ++i)
    if (const auto id = id_of_checkpoint(paths[i]))
      marks.saved_at[*id] = times[i];
  return marks;
}

/// Keeps the first error. Warnings (about unknown fields) would otherwise go to the process's stderr.
class first_error final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    if (text.empty())
      text = "line " + std::to_string(line + 1) + ", column " + std::to_string(column + 1) + ": " + message;
  }
  void AddWarning(int, google::protobuf::io::ColumnNumber, const std::string&) override {}

  std::string text;
};

/// The file as it is; its newest path is not empty.
expected<proto::CheckpointState> parse_text(const std::string& text, const std::string& path) {
  proto::CheckpointState state;
  first_error errors;
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);
  parser.AllowUnknownExtension(true);
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(depth_max);
  if (!parser.ParseFromString(text, &state))
    return fail(errc::data_loss, "cannot understand the state file " + path + ": " + errors.text);
  if (state.model_checkpoint_path().empty())
    return fail(errc::data_loss, "the state file " + path + " has no model_checkpoint_path");
  return state;
}

}  // namespace

std::string write_state_file(const std::vector<checkpoint_id>& ids, const retention_marks& marks) {
  assert(!ids.empty());
  proto::CheckpointState state;
  state.set_model_checkpoint_path(checkpoint_name(ids.back()));
  for (const auto id : ids)
    state.add_all_model_checkpoint_paths(checkpoint_name(id));
  const auto known = [&](checkpoint_id id) { return marks.saved_at.contains(id); };
  if (std::all_of(ids.begin(), ids.end(), known))
    for (const auto id : ids)
      state.add_all_model_checkpoint_timestamps(marks.saved_at.at(id));
  if (marks.last_preserved)
    state.set_last_preserved_timestamp(*marks.last_preserved);
  std::string text;
  google::protobuf::TextFormat::PrintToString(state, &text);
  for (const auto id : marks.preserved)
    text += std::string{preserved_mark} + checkpoint_name(id) + "\n";
  for (const auto& [id, changed] : marks.doomed)
    text += std::string{doomed_mark} + checkpoint_name(id) + " " + std::to_string(changed) + "\n";
  return text;
}

expected<checkpoint_state> parse_state_file(const std::string& text, const std::string& path) {
  const auto parsed = parse_text(text, path);
  if (!parsed)
    return fail(parsed.error());
  const auto& state = *parsed;
  checkpoint_state result{.marks = parse_marks(state, text)};
  for (const auto& entry : state.all_model_checkpoint_paths()) {
    const auto id = id_of_checkpoint(entry);
    if (!id) {
      result.warnings.push_back(path + " lists \"" + entry + "\", which is not called like a checkpoint");
      continue;
    }
    std::erase(result.ids, *id);
    result.ids.push_back(*id);
  }
  const auto newest = id_of_checkpoint(state.model_checkpoint_path());
  if (newest) {
    result.newest = *newest;
    if (std::find(result.ids.begin(), result.ids.end(), *newest) == result.ids.end())
      result.ids.push_back(*newest);
    return result;
  }
  // The newest path names no checkpoint here; the list may still be usable.
  result.warnings.push_back(path + " names \"" + state.model_checkpoint_path()
                            + "\" as the newest, which is not called like a checkpoint");
  if (result.ids.empty())
    return fail(errc::data_loss, "the state file " + path + " names \"" + state.model_checkpoint_path()
                                   + "\", which is not called like a checkpoint");
  result.newest = result.ids.back();
  return result;
}

expected<std::string> parse_newest_path(const std::string& text, const std::string& path) {
  return parse_text(text, path).map([](const proto::CheckpointState& state) { return state.model_checkpoint_path(); });
}

}  // namespace troupe
