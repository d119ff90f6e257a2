// The flags of `troupe train`, `troupe evaluate`, `troupe predict` and `troupe export`.
#pragma once

#include "cli/configuration/arguments.hpp"
#include "cli/configuration/settings.hpp"

#include <troupe/checkpoint_ref.hpp>

#include <span>

namespace troupe::cli {

/// Exit statuses of main, beside 128 + the number of a signal.
enum exit_status : int { succeeded = 0, failed = 1, misused = 2 };

struct command_line {
  std::optional<std::string> help;  ///< Requested: it is printed, and nothing else is done.
  std::string config;               ///< Path of the file; empty: none.
  std::string directory;            ///< A model directory, whose record takes the place of a file; empty: none.
  std::vector<std::string> arguments;  ///< Of the program, its name first.
  std::vector<assignment> set;
  std::vector<assignment> flags;    ///< By key: --max-steps is run.max_steps.
  std::optional<std::string> step, checkpoint;  ///< evaluate, predict, export: of which checkpoint; at most one is given.
  std::optional<std::string> evaluation;  ///< evaluate.
  std::optional<std::string> keys, format, limit;  ///< predict.
  std::optional<std::string> output;               ///< predict, export.
  std::optional<std::string> exported;             ///< predict: the directory of an exported model.
  std::vector<std::string> assets;                 ///< export: "PATH=FILE".
  std::optional<std::string> onnx;                 ///< export.
  bool json = false;
  bool quiet = false;
};

/// `arguments` follow the name of the subcommand. invalid_argument for flags that do not exist and values that are missing.
expected<command_line> parse_command_line(std::string_view subcommand, const std::vector<std::string>& arguments);

/// What one of these subcommands takes.
command_description describe_job_command(std::string_view subcommand);

/// File, --set and flags merged; in place of a file what the directory of the line keeps. invalid_argument and not_found are misuse;
/// data_loss and unimplemented: the directory's record.
expected<settings> load_settings(const command_line& line);

/// The number of --limit, for instance. invalid_argument unless it is a whole number of at least `least`.
expected<std::optional<int64_t>> parse_count(std::string_view flag, const std::optional<std::string>& text, int64_t least);

/// What --step or --checkpoint names; the newest without either. invalid_argument naming the flag.
expected<checkpoint_ref> checkpoint_of(const command_line& line);

/// A subcommand of the program, in a line.
struct command_summary {
  std::string_view name;
  std::string_view about;
};
/// All of them, in the order of `troupe --help`.
std::span<const command_summary> command_summaries();

/// `troupe --help`.
std::string general_help();

}  // namespace troupe::cli
