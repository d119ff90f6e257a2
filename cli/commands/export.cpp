// troupe export: a checkpoint's model as a directory that runs without its configuration. Standard output has its path only.
#include "cli/commands/commands.hpp"
#include "cli/configuration/job_setup.hpp"
#include "cli/terminal/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace troupe::cli {

namespace {

/// The step, of those with a checkpoint, whose recorded evaluation has the least loss; of equal ones the last.
expected<int64_t> best_step(const std::string& model_dir, const std::string& evaluation) {
  const auto directory = inspect_directory(model_dir);
  if (!directory)
    return fail(directory.error());
  const std::string events = model_dir + (evaluation.empty() ? "/eval" : "/eval_" + evaluation);
  const auto losses = event_points(events, "loss");
  if (!losses)
    return fail({errc::not_found, "there is no evaluation by which a checkpoint of " + model_dir + " could be the best", {losses.error().message}});
  std::optional<event_point> best;
  for (const auto& p : losses->points) {
    const bool there = std::any_of(directory->checkpoints.begin(), directory->checkpoints.end(), [&](const checkpoint_entry& c) {
      return c.id.step == p.step && (c.listed || c.preserved) && c.damages.empty();
    });
    if (there && !std::isnan(p.value.scalar) && (!best || p.value.scalar <= best->value.scalar))
      best = p;
  }
  if (!best)
    return fail(errc::not_found, "none of the checkpoints that " + model_dir + " has was evaluated");
  return best->step;
}

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

int export_model(const command_line& line, const std::shared_ptr<reporter>& report, signal_watch& signals) {
  // An export gets its number by one rename, so that a signal may end it at any point.
  end_at_first(signals, report, "before the model was exported");
  const bool best = line.step == "best";
  const auto step = best ? expected<std::optional<int64_t>>{} : parse_count("--step", line.step, 0);
  const auto assets = parse_assets(line.assets);
  if (!step)
    return failure(*report, {errc::invalid_argument, fmt::format("--step must be a whole number of at least 0, or best, not '{}'", *line.step)}, true);
  if (!assets)
    return failure(*report, assets.error(), true);
  if ((line.output && line.output->empty()) || (line.onnx && line.onnx->empty()))
    return failure(*report, {errc::invalid_argument, line.onnx && line.onnx->empty() ? "--onnx must name a file" : "--output must name a directory"}, true);
  const auto given = load_settings(line);
  if (!given)
    return failure(*report, given.error(), true);
  const auto setup = make_job_setup(*given, false);
  if (!setup)
    return failure(*report, setup.error(), true);
  const auto data = open_test_data(*setup);
  if (!data)
    return failure(*report, data.error(), false);
  export_options options{.directory = line.output.value_or(""), .input = data->batch(1), .step = *step, .assets_extra = *assets};
  if (best) {
    const auto chosen = best_step(*setup->estimator.config.model_dir, setup->evaluation.name);
    if (!chosen)
      return failure(*report, chosen.error(), false);
    options.step = *chosen;
  }
  const auto path = troupe::export_model(setup->estimator, options);
  if (!path)
    return failure(*report, path.error(), false);
  write_output(*path + "\n");
  if (line.onnx)
    if (auto written = exported_model::open(*path).and_then([&](const exported_model& m) { return write_onnx(m, *line.onnx); }); !written)
      return failure(*report, written.error(), false);
  signals.at_first({});
  return succeeded;
}

}  // namespace troupe::cli
