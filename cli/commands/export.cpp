// troupe export: writes a checkpoint's model as a directory that runs without its configuration. Standard output has
// only the path.
#include "cli/commands/commands.hpp"
#include "cli/configuration/job_setup.hpp"
#include "cli/terminal/output.hpp"

#include <troupe/exported_model.hpp>
#include <troupe/onnx.hpp>

#include <fmt/format.h>

namespace troupe::cli {

namespace {

expected<std::map<std::string, std::string>> parse_assets(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> assets;
  for (const auto& text : texts) {
    const size_t at = text.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size())
      return fail(errc::invalid_argument, fmt::format("--asset must be PATH=FILE, not '{}'", text));
    if (!assets.emplace(text.substr(0, at), text.substr(at + 1)).second)
      return fail(errc::invalid_argument, fmt::format("--asset {} is given twice", text.substr(0, at)));
  }
  return assets;
}

}  // namespace

int export_model(const command_line& line, const std::shared_ptr<console_printer>& console, signal_watch& signals) {
  // A signal may end an export at any point: a single rename gives it its number.
  end_at_first(signals, console, "before the model was exported");
  const auto assets = parse_assets(line.assets);
  if (!assets)
    return usage_failure(*console, assets.error());
  if ((line.output && line.output->empty()) || (line.onnx && line.onnx->empty()))
    return usage_failure(
        *console, {errc::invalid_argument,
                   line.onnx && line.onnx->empty() ? "--onnx must name a file" : "--output must name a directory"});
  const auto given = load_settings(line);
  if (!given)
    return failure(*console, given.error(), misuse_if(is_misuse(given.error())));
  auto setup = make_job_setup(*given, job_purpose::predicting);
  if (!setup)
    return usage_failure(*console, setup.error());
  const auto which = checkpoint_of(line);
  if (!which)
    return usage_failure(*console, which.error());
  if (auto taken = take_winner(*setup, *which); !taken)
    return failure(*console, taken.error(), misuse_if(taken.error().category == errc::invalid_argument));
  const auto evaluation = find_evaluation(*setup, line.evaluation);
  if (!evaluation)
    return usage_failure(*console, evaluation.error());
  const auto data = open_test_data(*setup, *evaluation);
  if (!data)
    return failure(*console, with_origin(data.error(), line));
  export_options options{.directory = line.output.value_or(""),
                         .input = data->batch(1),
                         .checkpoint = *which,
                         .assets_extra = *assets,
                         .on_warning = [console](const std::string& text) { console->warn(text); }};
  const auto path = troupe::export_model(setup->estimator, options);
  if (!path)
    return failure(*console, path.error());
  write_data(*path + "\n");
  if (line.onnx)
    end_at_first(signals, console, fmt::format("before {} was written", *line.onnx));
  if (line.onnx) {
    auto written = exported_model::open(*path).and_then(
        [&](const exported_model& m) { return write_onnx(m, *line.onnx); });
    if (!written) {
      written.error().notes.push_back(*path + " is exported all the same");
      return failure(*console, written.error());
    }
  }
  signals.at_first({});
  return succeeded;
}

}  // namespace troupe::cli
