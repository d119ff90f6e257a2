#include "storage/state_file.hpp"

#include "storage/checkpoint_names.hpp"
#include "storage/proto/checkpoint_state.pb.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cassert>

namespace troupe {

namespace {

/// Keeps the first error. Warnings (of unknown fields) would otherwise go to the process's stderr.
class first_error final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    if (text.empty())
      text = "line " + std::to_string(line + 1) + ", column " + std::to_string(column + 1) + ": " + message;
  }
  void AddWarning(int, google::protobuf::io::ColumnNumber, const std::string&) override {}

  std::string text;
};

}  // namespace

std::string write_state_file(const std::vector<int64_t>& steps) {
  assert(!steps.empty());
  proto::CheckpointState state;
  state.set_model_checkpoint_path(checkpoint_name(steps.back()));
  for (const int64_t step : steps)
    state.add_all_model_checkpoint_paths(checkpoint_name(step));
  std::string text;
  google::protobuf::TextFormat::PrintToString(state, &text);
  return text;
}

expected<checkpoint_state> parse_state_file(const std::string& text, const std::string& path) {
  proto::CheckpointState state;
  first_error errors;
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);
  parser.AllowUnknownExtension(true);
  parser.RecordErrorsTo(&errors);
  if (!parser.ParseFromString(text, &state))
    return fail(errc::data_loss, "cannot understand the state file " + path + ": " + errors.text);
  if (state.model_checkpoint_path().empty())
    return fail(errc::data_loss, "the state file " + path + " has no model_checkpoint_path");

  checkpoint_state result;
  for (const auto& entry : state.all_model_checkpoint_paths()) {
    const auto step = step_of_checkpoint(entry);
    if (!step) {
      result.warnings.push_back(path + " lists \"" + entry + "\", which is not called like a checkpoint");
      continue;
    }
    std::erase(result.steps, *step);
    result.steps.push_back(*step);
  }
  const auto newest = step_of_checkpoint(state.model_checkpoint_path());
  if (newest) {
    result.newest = *newest;
    if (std::find(result.steps.begin(), result.steps.end(), *newest) == result.steps.end())
      result.steps.push_back(*newest);
    return result;
  }
  // The name that counts means nothing here; the list still may.
  result.warnings.push_back(path + " names \"" + state.model_checkpoint_path()
                            + "\" as the newest, which is not called like a checkpoint");
  if (result.steps.empty())
    return fail(errc::data_loss, "the state file " + path + " names \"" + state.model_checkpoint_path()
                                   + "\", which is not called like a checkpoint");
  result.newest = result.steps.back();
  return result;
}

}  // namespace troupe
