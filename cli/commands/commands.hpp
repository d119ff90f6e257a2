// The subcommands. Each returns what main returns.
#pragma once

#include "cli/configuration/arguments.hpp"
#include "cli/configuration/command_line.hpp"
#include "cli/terminal/reporter.hpp"
#include "cli/terminal/signals.hpp"

namespace troupe::cli {

int train(const command_line& line, const std::shared_ptr<reporter>& report, signal_watch& signals);
int evaluate(const command_line& line, const std::shared_ptr<reporter>& report, signal_watch& signals);
/// These have flags of their own: `arguments` follow the name. They use the reporter for failures only.
int inspect(const std::vector<std::string>& arguments, reporter& report);
int checkpoints(const std::vector<std::string>& arguments, reporter& report);
int serve(const std::vector<std::string>& arguments, reporter& report, signal_watch& signals);
int convert(const std::vector<std::string>& arguments, reporter& report);
int completions(const std::vector<std::string>& arguments, reporter& report);
int predict(const command_line& line, const std::shared_ptr<reporter>& report, signal_watch& signals);
int export_model(const command_line& line, const std::shared_ptr<reporter>& report, signal_watch& signals);

/// What commands with flags of their own take.
command_description describe_inspect();
command_description describe_checkpoints();
command_description describe_serve();
command_description describe_convert();
command_description describe_completions();
/// All of `command_summaries`, in their order.
std::vector<command_description> describe_commands();

/// Reads the arguments of a command with flags of its own. Its exit status where that is all: help was asked for, or they are wrong.
std::optional<int> ended_by_arguments(command_arguments& known, const std::vector<std::string>& arguments, reporter& report);
/// The exit status of a failure: 2 for a value that can never be right, else 1.
int failure(reporter& report, const error& e, bool misuse);
/// Whether `load_settings` failed by what was asked for, not by a damaged record.
bool is_misuse(const error& e);
/// An error about data that are not there, with a note on who named them where that was the record of a directory.
error with_origin(error e, const command_line& line);
std::string_view signal_name(int signal);
/// From now on the first signal ends the process at once, with its status: for commands that leave nothing half done
/// behind. `doing` completes the message: "before the training began".
void end_at_first(signal_watch& signals, const std::shared_ptr<reporter>& report, std::string doing);

}  // namespace troupe::cli
