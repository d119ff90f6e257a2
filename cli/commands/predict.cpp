// troupe predict: writes one result for each example, as text or as NumPy arrays. Standard output has only results.
#include "cli/commands/commands.hpp"
#include "cli/configuration/job_setup.hpp"
#include "cli/terminal/output.hpp"

#include <troupe/exported_model.hpp>
#include <troupe/prediction_file.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

namespace troupe::cli {

namespace {

struct output_choice {
  prediction_format format = prediction_format::csv;
  std::optional<std::string> path;  ///< Absent: standard output.

  /// True for standard output, pipes and devices: a write may wait for a reader, and a stop leaves no file to remove.
  bool is_stream() const { return !path || (format != prediction_format::npy && prediction_file::is_stream(*path)); }
};

std::string stop_text(const signal_watch& signals, const output_choice& to) {
  return fmt::format("stopped by {}{}\n", signal_name(signals.first()),
                     to.path ? ": " + *to.path + " was not written" : "");
}

expected<output_choice> choose_output(const command_line& line) {
  output_choice choice{prediction_format::csv, line.output};
  const std::string name = line.format.value_or("csv");
  if (name == "jsonl")
    choice.format = prediction_format::jsonl;
  else if (name == "npy")
    choice.format = prediction_format::npy;
  else if (name != "csv")
    return fail(errc::invalid_argument, fmt::format("--format must be csv, jsonl or npy, not '{}'", name));
  if (choice.path && choice.path->empty())
    return fail(errc::invalid_argument, "--output must name a file");
  if (choice.path == "-")
    choice.path.reset();
  if (choice.format == prediction_format::npy && !choice.path)
    return fail(errc::invalid_argument, "--format npy needs --output, the directory for its files");
  return choice;
}

expected<std::vector<std::string>> parse_keys(const std::optional<std::string>& text) {
  std::vector<std::string> keys;
  if (!parse_option(text.value_or(""), keys))
    return fail(errc::invalid_argument, fmt::format("--keys must be names with commas between them, not '{}'", *text));
  return keys;
}

/// The destination of results: a file that gets its name when it is complete, or standard output.
class results {
 public:
  static expected<results> open(const output_choice& choice) {
    results made{choice.format};
    if (!choice.path)
      return made;
    auto file = prediction_file::create(*choice.path, choice.format);
    if (!file)
      return fail(file.error());
    made.file_.emplace(std::move(*file));
    return made;
  }
  /// False once nothing reads standard output any more.
  expected<bool> write(const prediction& one) {
    const bool first = count_++ == 0;
    if (file_) {
      auto written = file_->write(one);
      return written ? expected<bool>{true} : fail(written.error());
    }
    if (format_ == prediction_format::jsonl)
      return write_data(json_line(one));
    return write_data((first ? csv_header(one) : "") + csv_line(one));
  }
  expected<void> finish() { return file_ ? file_->finish() : expected<void>{}; }
  int64_t count() const noexcept { return count_; }

 private:
  explicit results(prediction_format format) : format_(format) {}
  prediction_format format_;
  std::optional<prediction_file> file_;
  int64_t count_ = 0;
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Prints one line each second on standard error.
class progress_lines {
 public:
  explicit progress_lines(bool quiet) : quiet_(quiet), began_(seconds_now()), last_(began_) {}
  void at(int64_t count) {
    const double now = seconds_now();
    if (quiet_ || now - last_ < 1)
      return;
    last_ = now;
    write_error(fmt::format("{} results  {:.0f} results/s\n", count, static_cast<double>(count) / (now - began_)));
  }
  void finish(int64_t count, const std::string& from, const output_choice& to) const {
    if (!quiet_)
      write_error(fmt::format("{} results in {:.1f} s from {}{}\n", count, seconds_now() - began_, from,
                              to.path ? " to " + *to.path : ""));
  }

 private:
  bool quiet_;
  double began_, last_;
};

int run(prediction_stream& stream, const job_setup& setup, const output_choice& to, std::optional<int64_t> limit,
        const command_line& line, console_printer& console, signal_watch& signals) {
  progress_lines progress{line.quiet};
  std::optional<results> out;
  while (!limit || !out || out->count() < *limit) {
    const auto one = stream.next();
    if (!one && one.error().category == errc::cancelled)
      return failed;  // A signal cancelled it; the caller reports that.
    if (!one)
      return failure(console, one.error(),
                     misuse_if(one.error().category == errc::invalid_argument && one.error().source.empty()));
    if (!out) {
      // Without a checkpoint the library predicts with fresh variables, and an exported model has no checkpoint. A user
      // who names a directory wants its contents, so this is an error.
      if (*one && !line.exported && stream.checkpoint().empty() && !setup.estimator.warm_start)
        return failure(console, {errc::not_found, fmt::format("{} has no checkpoint to predict with",
                                                              *setup.estimator.config.model_dir)});
      if (!line.exported && !stream.remark().empty())
        console.warn(stream.remark());
      // From here on a signal may find a partial file, which must be removed, or a blocked write to a stream, which
      // only the end of the process can interrupt.
      signals.at_first([&stream, &signals, &to, is_stream = to.is_stream()] {
        if (is_stream) {
          write_error(stop_text(signals, to));
          _exit(128 + signals.first());
        }
        stream.cancel();
      });
      if (to.format == prediction_format::npy && *one && (*one)->values.empty())
        return usage_failure(console, {errc::invalid_argument, fmt::format("'{}' is made of words, which npy files do "
                                                                           "not hold, and there is no other key: "
                                                                           "--format csv or jsonl holds words",
                                                                           (*one)->texts.begin()->first)});
      auto opened = results::open(to);
      if (!opened)
        return failure(console, opened.error());
      out.emplace(std::move(*opened));
      if (to.format == prediction_format::npy && *one && !(*one)->texts.empty())
        console.warn(fmt::format("'{}' is made of words, which npy files do not hold: it is left out",
                                 (*one)->texts.begin()->first));
    }
    if (!*one)
      break;
    const auto written = out->write(**one);
    if (!written)
      return failure(console, written.error());
    if (!*written)
      return succeeded;  // The reader has read enough, as head does. close_output checks that.
    progress.at(out->count());
  }
  if (auto finished = out->finish(); !finished)
    return failure(console, finished.error());
  progress.finish(out->count(),
                  line.exported                 ? *line.exported
                  : stream.checkpoint().empty() ? "no checkpoint"
                                                : stream.checkpoint(),
                  to);
  return succeeded;
}

/// The newest export in the directory, or the directory itself where there is none in it.
std::string newest_export_in(const std::string& directory) {
  const auto inside = list_exports(directory);
  return inside && !inside->empty() ? inside->back() : directory;
}

/// The model and the data: both from the configuration, or an exported model with the configuration's data.
expected<job_setup> make_setup(const command_line& line, const settings& given, console_printer& console) {
  if (!line.exported)
    return make_job_setup(given, job_purpose::predicting);
  if (line.step || line.checkpoint || given.precedence_of("run.model_dir") == precedence::flag)
    return misuse("predict", fmt::format("{} cannot be given together with --export, which names one model",
                                         line.step         ? "--step"
                                         : line.checkpoint ? "--checkpoint"
                                                           : "--model-dir"));
  auto setup = make_data_setup(given);
  if (!setup)
    return fail(setup.error());
  const auto exported = exported_model::open(*line.exported);
  if (!exported)
    return fail(exported.error());
  if (!exported->remark().empty())
    console.warn(exported->remark());
  setup->estimator = {exported->as_model(), {}};
  return setup;
}

}  // namespace

int predict(const command_line& as_given, const std::shared_ptr<console_printer>& console, signal_watch& signals) {
  auto line = as_given;
  if (line.exported)
    line.exported = newest_export_in(*line.exported);
  signals.at_first([&] {
    write_error(fmt::format("stopped by {} before the first result\n", signal_name(signals.first())));
    _exit(128 + signals.first());
  });
  const auto limit = parse_count("--limit", line.limit, 1);
  const auto to = choose_output(line);
  const auto keys = parse_keys(line.keys);
  for (const auto* refused :
       {limit ? nullptr : &limit.error(), to ? nullptr : &to.error(), keys ? nullptr : &keys.error()})
    if (refused)
      return usage_failure(*console, *refused);
  const auto given = load_settings(line);
  if (!given)
    return failure(*console, given.error(), misuse_if(is_misuse(given.error())));
  auto setup = make_setup(line, *given, *console);
  if (!setup)
    return failure(*console, setup.error(),
                   misuse_if(!line.exported || setup.error().category == errc::invalid_argument));
  const auto which = checkpoint_of(line);
  if (!which)
    return usage_failure(*console, which.error());
  if (auto taken = take_winner(*setup, *which); !taken)
    return failure(*console, taken.error(), misuse_if(taken.error().category == errc::invalid_argument));
  const auto& test = setup->evaluations.front();
  const auto data = open_test_data(*setup, test);
  if (!data)
    return failure(*console, with_origin(data.error(), line));

  auto stream = troupe::predict(setup->estimator,
                                {.input = data->batch(test.data.batch_size), .keys = *keys, .checkpoint = *which});
  if (!stream)
    return usage_failure(*console, stream.error());
  const int status = run(*stream, *setup, *to, *limit, line, *console, signals);
  signals.at_first({});
  if (signals.first() == 0 || status == succeeded)
    return status;
  write_error(stop_text(signals, *to));
  return 128 + signals.first();
}

}  // namespace troupe::cli
