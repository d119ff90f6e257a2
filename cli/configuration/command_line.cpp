#include "cli/configuration/command_line.hpp"

#include "cli/configuration/config_file.hpp"
#include "cli/configuration/joined.hpp"
#include "cli/configuration/kept_settings.hpp"

#include <troupe/checkpoints.hpp>
#include <troupe/experiment.hpp>
#include <troupe/options/spec_fields.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>

namespace troupe::cli {

namespace {

constexpr std::string_view exit_codes = R"(Exit status:
  0    done, also when there was nothing left to do
  1    an error: data, a checkpoint, the disk, a loss that is not finite
  2    misuse: a flag, a key or a value that cannot be
  130  stopped by SIGINT, 143 by SIGTERM, 129 by SIGHUP: what was trained is saved; a second signal stops at once
)";

constexpr std::string_view train_examples = R"(Examples:
  troupe train --config examples/fashion_mnist.toml
  troupe train --config examples/fashion_mnist.toml --epochs 10 --model-dir runs/longer --json
  troupe train --config my.toml --set run.save_checkpoints_steps=100 --set optimizer.rate=3e-4
  troupe train runs/longer --epochs 20
A model directory says what its last run was configured with: named in place of a --config, it is gone on in
with the same. Running the same command again goes on from the newest checkpoint, and trains nothing once the
end is reached. SIGTSTP pauses training, SIGCONT resumes it.
)";

constexpr std::string_view check_examples = R"(Examples:
  troupe check --config examples/fashion_mnist.toml
  troupe check --config examples/fashion_mnist.toml --max-steps 9000 --json
  troupe check --config my.toml --tf-config worker-1.json
Opens the data, builds the model and plans what troupe train would run with the same flags; trains and writes
nothing. In a cluster this is the part of one process: the task that TF_CONFIG, or the file in its place, names.
Only the data that the task reads are opened.
)";

constexpr std::string_view search_examples = R"(Examples:
  troupe search --config examples/fashion_mnist_search.toml
  troupe search --config examples/fashion_mnist_search.toml --max-iterations 5 --model-dir runs/longer --json
  troupe search runs/longer --max-steps 9000
Each iteration trains new networks, [search.generator] or [[search.builders]], and ensembles of them with the best
ensemble so far. Running the same command again goes on where the search stopped. troupe evaluate, predict and
export use the best ensemble. SIGTSTP pauses the search, SIGCONT resumes it.
)";

constexpr std::string_view experiment_examples = R"(Examples:
  troupe experiment --config examples/first.toml
  troupe experiment --schedule continuous_eval --config examples/first.toml
  troupe experiment --schedule test --config my.toml
Runs one schedule over a model directory: other processes run others, over the same. Without --schedule it is
train_and_evaluate, or that of the task which TF_CONFIG names: a master, a worker or a ps; others have to name one.
Data and exporters of evaluations are those of [evaluate], or the first [[evaluate]]; [experiment] has when they are
made. The first signal ends a training with a last checkpoint, and anything else at once.
)";

constexpr std::string_view evaluate_examples = R"(Examples:
  troupe evaluate --config examples/fashion_mnist.toml
  troupe evaluate --config examples/fashion_mnist.toml --step 780 --json
  troupe evaluate runs/fashion-mnist
)";

constexpr std::string_view predict_examples = R"(Examples:
  troupe predict runs/fashion-mnist --keys class_ids --limit 10
  troupe predict --config examples/fashion_mnist.toml --output predictions.csv
  troupe predict --config examples/fashion_mnist.toml --format npy --output predictions
One result for each example of the test data, in their order, from the newest checkpoint. Standard output has
nothing but results; progress, warnings and errors go to standard error. An --output gets its name once all of
it is written: csv and jsonl are files, npy is a directory with KEY.npy for each key, where predictions that are
words are left out.
)";

constexpr std::string_view export_examples = R"(Examples:
  troupe export --config examples/fashion_mnist.toml
  troupe export --config examples/fashion_mnist.toml --step best --output exports/fashion
  troupe export --config examples/fashion_mnist.toml --onnx fashion.onnx
Writes the model of the newest checkpoint, or of the best one where keep_best.restore_best is set, as a
directory that runs without its configuration, and prints its path, which ends in a number that grows. It is
there whole or not at all. `troupe inspect PATH` shows what it takes and yields, `troupe predict --export PATH`
runs it.
)";

/// A flag that is short for a key and has the key's help.
struct flag {
  enum class user : uint8_t { all, search, training, judging };
  const char* name;
  const char* key;
  const char* value;
  user of = user::all;  ///< Only these commands have it: others would take it and do nothing with it.
};
constexpr flag all_key_flags[] = {
    {"--model-dir", "run.model_dir", "DIR"},
    {"--data", "input.data", "DIR"},
    {"--max-steps", "run.max_steps", "N"},
    {"--epochs", "input.epochs", "N", flag::user::training},
    {"--max-iterations", "search.max_iterations", "N", flag::user::search},
    {"--max-iteration-steps", "search.max_iteration_steps", "N", flag::user::search},
    {"--batch-size", "input.batch_size", "N", flag::user::training},
    {"--batch-size", "evaluate.batch_size", "N", flag::user::judging},
    {"--seed", "run.seed", "N"},
};

bool has(std::string_view subcommand, flag::user which) {
  switch (which) {
    case flag::user::all: return true;
    case flag::user::search: return subcommand == "search";
    case flag::user::training: return subcommand != "evaluate" && subcommand != "predict" && subcommand != "export";
    case flag::user::judging: return subcommand == "evaluate" || subcommand == "predict";
  }
  return false;
}

std::vector<flag> key_flags(std::string_view subcommand) {
  std::vector<flag> flags;
  for (const auto& f : all_key_flags)
    if (has(subcommand, f.of))
      flags.push_back(f);
  return flags;
}

template <class Options>
std::string about(std::string_view name) {
  std::string text;
  each_field(defaults_of<Options>(),
             [&](const field_row& field, const auto&) { text += field.name == name ? field.about : ""; });
  return text;
}

std::string_view purpose(std::string_view subcommand) {
  return subcommand == "train" ? "Trains a model, saving and evaluating as it goes."
         : subcommand == "check"
             ? "Checks a configuration with its data and its model, and shows what a process would do."
         : subcommand == "experiment" ? "Runs a schedule of training and evaluation, as TensorFlow's Experiment does."
         : subcommand == "search"     ? "Searches an ensemble of networks, saving and evaluating as it goes."
         : subcommand == "predict" ? "Writes what the newest checkpoint of a model, or an exported model, says of each "
                                     "example of the test data."
         : subcommand == "export"
             ? "Exports the newest checkpoint of a model for programs that do not have the model's code."
             : "Evaluates the newest checkpoint of a model.";
}

std::string footer(std::string_view subcommand) {
  const auto examples = subcommand == "train"        ? train_examples
                        : subcommand == "check"      ? check_examples
                        : subcommand == "search"     ? search_examples
                        : subcommand == "experiment" ? experiment_examples
                        : subcommand == "evaluate"   ? evaluate_examples
                        : subcommand == "export"     ? export_examples
                                                     : predict_examples;
  std::vector<std::string> tables;
  for (const auto& table : key_tables())
    tables.emplace_back(table.name);
  return fmt::format(
      "{}\nKeys of the configuration and of --set are listed by --help all, or by --help and one of their subjects:\n  "
      "{}\n"
      "The part after the dot is enough where only one key ends so: --set epochs=3, but --set warm_start.freeze=true. "
      "A flag beats\n"
      "--set, and both beat the file.\n\n{}",
      examples, joined(tables, ", "), exit_codes);
}

/// Values of flags that are not members of `command_line`.
struct raw_flags {
  std::deque<std::optional<std::string>> values;  ///< Of `key_flags` of the subcommand, in their order.
  std::vector<std::string> set;
  bool debug_numerics = false;
};

void add_arguments(command_arguments& known, std::string_view subcommand, command_line& line, raw_flags& raw) {
  const bool checking = subcommand == "check", predicting = subcommand == "predict", exporting = subcommand == "export",
             experimenting = subcommand == "experiment",
             training = subcommand == "train" || subcommand == "search" || checking;
  for (const auto& table : key_tables())
    known.subject(std::string{table.name}, describe_keys(table));
  known.word("DIR", line.directory,
             "a model directory, in place of --config and --model-dir: configured as its last run was");
  known.value("--config", "FILE", line.config, "configuration in TOML");
  for (const auto& f : key_flags(subcommand))
    known.value(f.name, f.value, raw.values.emplace_back(), help_of(*find_key(f.key)));
  known.values("--set", "KEY=VALUE", raw.set, "any key, as often as you like");
  if (experimenting) {
    std::vector<std::string> names;
    for (const auto s : all_schedules())
      names.emplace_back(to_string(s));
    known.value("--schedule", "NAME", line.schedule, "one of " + joined(names, ", "), names);
  } else if (!training) {
    known.value("--checkpoint", "newest|best|N|PATH", line.checkpoint, about<predict_spec>("checkpoint"));
    known.value("--step", "newest|best|N|PATH", line.step, "the same, for steps: --step 390");
  }
  if (predicting) {
    known.value("--keys", "A,B", line.keys, about<predict_spec>("keys"));
    known.value("--format", "csv|jsonl|npy", line.format, "how results are written [csv]");
    known.value("--output", "FILE", line.output,
                "where they go, - for standard output; npy: a directory [standard output]");
    known.value("--limit", "N", line.limit, "only the first N results");
    known.value(
        "--export", "DIR", line.exported,
        "an exported model, or a directory whose newest export is meant, in place of a model directory; only input "
        "and evaluate of the keys count then");
  } else if (exporting) {
    known.value("--output", "DIR", line.output,
                "where the numbered directory goes [export/latest in the model directory]");
    known.value("--onnx", "FILE", line.onnx, "also write it as an ONNX file");
    known.values("--asset", "PATH=FILE", line.assets,
                 "a file to put beside it, as assets.extra/PATH; as often as you like");
  } else if (checking) {
    known.value("--tf-config", "FILE", line.tf_config, "a file of JSON in place of the environment variable TF_CONFIG");
    known.flag("--json", line.json, "one JSON object");
    return;
  } else {
    known.flag("--json", line.json, "every line of standard output is a JSON object with an \"event\"");
  }
  if (training) {
    known.flag("--status", line.status, "write .status.json in the model directory once a second, for troupe top");
    known.value("--trace", "FILE", line.trace, "write what each actor does in --trace-steps, for ui.perfetto.dev");
    known.value("--trace-steps", "A:B", line.trace_steps, "the steps of --trace, from A to before B [100:120]");
  }
  if (!predicting && !training && !experimenting)
    known.value("--evaluation", "NAME", line.evaluation, "the [[evaluate]] of this name; the first unless given");
  if (!predicting && !exporting)
    known.flag("--debug-numerics", raw.debug_numerics, find_key("run.debug_numerics")->about);
  known.flag("--quiet", line.quiet, "nothing but the result, warnings and errors");
}

}  // namespace

command_description describe_job_command(std::string_view subcommand) {
  command_line line;
  raw_flags raw;
  command_arguments known{std::string{subcommand}, std::string{purpose(subcommand)}, footer(subcommand)};
  add_arguments(known, subcommand, line, raw);
  return known.description();
}

expected<command_line> parse_command_line(std::string_view subcommand, const std::vector<std::string>& arguments) {
  command_line line;
  line.arguments = {"troupe", std::string{subcommand}};
  line.arguments.insert(line.arguments.end(), arguments.begin(), arguments.end());
  raw_flags raw;
  command_arguments known{std::string{subcommand}, std::string{purpose(subcommand)}, footer(subcommand)};
  add_arguments(known, subcommand, line, raw);

  auto help = known.read(arguments);
  if (!help)
    return fail(help.error());
  if (*help) {
    line.help = std::move(*help);
    return line;
  }
  const auto flags = key_flags(subcommand);
  for (size_t i = 0; i < raw.values.size(); ++i)
    if (raw.values[i])
      line.flags.push_back({flags[i].key, *raw.values[i], flags[i].name});
  if (!line.directory.empty()) {
    if (!line.config.empty())
      return misuse(subcommand, fmt::format("unexpected argument '{}': a model directory takes the place of --config, "
                                            "beside which --model-dir names it",
                                            line.directory));
    if (std::any_of(line.flags.begin(), line.flags.end(), [](const assignment& a) { return a.key == "run.model_dir"; }))
      return misuse(subcommand, "--model-dir cannot be given together with a directory: both name it");
    line.flags.push_back({"run.model_dir", line.directory, "DIR"});
  }
  if (raw.debug_numerics)
    line.flags.push_back({"run.debug_numerics", "true", "--debug-numerics"});
  for (const auto& text : raw.set) {
    auto a = parse_assignment(text);
    if (!a)
      return misuse(subcommand, a.error().message);
    line.set.push_back(std::move(*a));
  }
  if (line.step && line.checkpoint)
    return misuse(subcommand, "--step and --checkpoint cannot be given together: both name the checkpoint");
  return line;
}

expected<std::optional<int64_t>> parse_count(std::string_view flag, const std::optional<std::string>& text,
                                             int64_t least) {
  if (!text)
    return std::nullopt;
  int64_t count = 0;
  const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), count);
  if (failed != std::errc{} || end != text->data() + text->size() || count < least)
    return fail(errc::invalid_argument,
                fmt::format("{} must be a whole number of at least {}, not '{}'", flag, least, *text));
  return count;
}

expected<step_range> trace_steps_of(const command_line& line) {
  step_range r;
  if (!line.trace_steps)
    return r;
  const auto& text = *line.trace_steps;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, r.first);
  const bool goes_on = first.ec == std::errc{} && first.ptr < end && *first.ptr == ':';
  const auto second = goes_on ? std::from_chars(first.ptr + 1, end, r.end) : first;
  if (!goes_on || second.ec != std::errc{} || second.ptr != end || r.first < 0 || r.end <= r.first)
    return fail(errc::invalid_argument,
                fmt::format("--trace-steps takes two steps, the second one greater, such as 100:120, not '{}'", text));
  if (!line.trace)
    return fail(errc::invalid_argument, "--trace-steps goes with --trace FILE");
  return r;
}

expected<checkpoint_ref> checkpoint_of(const command_line& line) {
  const auto& text = line.step ? line.step : line.checkpoint;
  if (!text)
    return checkpoint_ref::newest();
  auto which = parse_checkpoint_ref(*text);
  if (!which)
    which.error().message = fmt::format("{}: {}", line.step ? "--step" : "--checkpoint", which.error().message);
  return which;
}

expected<settings> load_settings(const command_line& line) {
  std::vector<assignment> file;
  if (!line.config.empty()) {
    auto read = read_config(line.config);
    if (!read)
      return fail(read.error());
    file = std::move(*read);
  } else if (!line.directory.empty()) {
    auto kept = kept_settings(line.directory);
    if (!kept)
      return fail(kept.error());
    file = std::move(*kept);
  }
  return settings::merge(file, line.set, line.flags);
}

std::span<const command_summary> command_summaries() {
  static constexpr command_summary all[] = {
      {"train", "trains a model, saving and evaluating as it goes"},
      {"check", "checks a configuration, its data and its model, and shows what a process would do"},
      {"search", "searches an ensemble of networks, iteration by iteration"},
      {"experiment", "runs a schedule of training and evaluation, several of them over one model directory"},
      {"evaluate", "evaluates the newest checkpoint, or that of --step or --checkpoint"},
      {"predict", "writes what that checkpoint, or an exported model, says of each example"},
      {"export", "writes that checkpoint's model for programs that do not have its code"},
      {"serve", "answers predictions of exported models over HTTP"},
      {"inspect", "shows a model directory, a checkpoint, an exported model, an event file, a plan or a graph"},
      {"top", "shows what a running job does, and what its actors do with their time"},
      {"checkpoints", "lists, verifies and deletes checkpoints"},
      {"convert", "converts checkpoints between Troupe, TensorFlow and safetensors"},
      {"completions", "prints what a shell needs to complete these commands, their flags and keys"},
      {"help", "prints a page of the guide, or the help of a command"},
  };
  return all;
}

std::string general_help() {
  std::string commands;
  for (const auto& c : command_summaries())
    commands += fmt::format("  {:<11}  {}\n", c.name, c.about);
  return fmt::format(R"(Trains models, saves them as it goes, and goes on where it stopped.

Usage: troupe COMMAND [FLAG...]

Commands:
{}
  troupe COMMAND --help prints its flags and examples; troupe COMMAND --help all also the keys of a configuration.
  troupe help lists the pages of the guide, troupe help TOPIC prints one.
  troupe --version

{})",
                     commands, exit_codes);
}

}  // namespace troupe::cli
