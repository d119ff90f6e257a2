// The flags of `troupe train`, `troupe check`, `troupe search`, `troupe experiment`, `troupe evaluate`, `troupe
// predict` and `troupe export`.
#pragma once

#include "cli/configuration/arguments.hpp"
#include "cli/configuration/settings.hpp"

#include <troupe/checkpoint_ref.hpp>

#include <span>

namespace troupe::cli {

/// The exit statuses of main, in addition to 128 + the number of a signal.
enum exit_status : int { succeeded = 0, failed = 1, misused = 2 };

struct command_line {
  std::optional<std::string> help;  ///< Help was asked for: the caller prints it and ends.
  std::string config;               ///< The path of the configuration; empty: none.
  /// A model directory, whose record is used in place of a configuration file; empty: none.
  std::string directory;
  std::vector<std::string> arguments;  ///< The program's arguments, beginning with its name.
  std::vector<assignment> set;
  std::vector<assignment> flags;  ///< With the key as name: run.max_steps for --max-steps.
  /// evaluate, predict, export: which checkpoint. At most one of them is given.
  std::optional<std::string> step, checkpoint;
  std::optional<std::string> evaluation;           ///< Only for evaluate.
  std::optional<std::string> keys, format, limit;  ///< Only for predict.
  std::optional<std::string> output;               ///< Only for predict and export.
  std::optional<std::string> exported;             ///< Only for predict: an exported model's directory.
  std::vector<std::string> assets;                 ///< Only for export: "PATH=FILE".
  std::optional<std::string> onnx;                 ///< Only for export.
  std::optional<std::string> tf_config;            ///< Only for check: a file in place of TF_CONFIG.
  std::optional<std::string> trace, trace_steps;   ///< Only for train and search.
  std::optional<std::string> schedule;             ///< Only for experiment.
  bool status = false;                             ///< Only for train and search.
  bool json = false;
  bool quiet = false;
};

/// `arguments` are those after the name of the subcommand. invalid_argument: a flag that does not exist, or a missing
/// value.
expected<command_line> parse_command_line(std::string_view subcommand, const std::vector<std::string>& arguments);

/// The arguments of one of these subcommands.
command_description describe_job_command(std::string_view subcommand);

/// Merges file, --set and flags; the record of the line's directory, if one is given, replaces the file.
/// invalid_argument and not_found mean misuse; data_loss and unimplemented are errors of the directory's record.
expected<settings> load_settings(const command_line& line);

/// The number that a flag such as --limit gives. invalid_argument unless it is a whole number of at least `least`.
expected<std::optional<int64_t>> parse_count(std::string_view flag, const std::optional<std::string>& text,
                                             int64_t least);

/// The steps [first, end) that --trace-steps names, "100:120". invalid_argument.
struct step_range {
  int64_t first = 100, end = 120;
};
expected<step_range> trace_steps_of(const command_line& line);

/// The checkpoint that --step or --checkpoint names; the newest if neither is given. invalid_argument, naming the flag.
expected<checkpoint_ref> checkpoint_of(const command_line& line);

/// A subcommand of the program and its purpose, in one line.
struct command_summary {
  std::string_view name;
  std::string_view about;
};
/// All subcommands, in the order of `troupe --help`.
std::span<const command_summary> command_summaries();

/// The text of `troupe --help`.
std::string general_help();

}  // namespace troupe::cli
