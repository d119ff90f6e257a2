// The subcommands. Each returns the exit status of main.
#pragma once

#include "cli/configuration/arguments.hpp"
#include "cli/configuration/command_line.hpp"
#include "cli/terminal/reporter.hpp"
#include "cli/terminal/signals.hpp"

namespace troupe::cli {

int train(const command_line& line, const std::shared_ptr<reporter>& report, signal_watch& signals);
int evaluate(const command_line& line, const std::shared_ptr<reporter>& report, signal_watch& signals);
/// These commands parse flags of their own: `arguments` are those after the command's name. The reporter gets failures
/// only.
int inspect(const std::vector<std::string>& arguments, reporter& report);
int checkpoints(const std::vector<std::string>& arguments, reporter& report);
int serve(const std::vector<std::string>& arguments, reporter& report, signal_watch& signals);
int convert(const std::vector<std::string>& arguments, reporter& report);
int completions(const std::vector<std::string>& arguments, reporter& report);
int predict(const command_line& line, const std::shared_ptr<reporter>& report, signal_watch& signals);
int export_model(const command_line& line, const std::shared_ptr<reporter>& report, signal_watch& signals);

/// The arguments of the commands that parse their own flags.
command_description describe_inspect();
command_description describe_checkpoints();
command_description describe_serve();
command_description describe_convert();
command_description describe_completions();
/// The commands in `command_summaries`, in the same order.
std::vector<command_description> describe_commands();

/// Reads the arguments of a command with flags of its own. Returns an exit status if the command ends with that: after
/// printing help, or because the arguments are wrong.
std::optional<int> ended_by_arguments(command_arguments& known, const std::vector<std::string>& arguments, reporter& report);
/// Reports the error and returns the exit status: 2 for misuse, a value that can never be right, otherwise 1.
int failure(reporter& report, const error& e, bool misuse);
/// Whether `load_settings` failed because of what the user asked for, and not because of a damaged record.
bool is_misuse(const error& e);
/// Adds a note to an error about missing data if a directory's record named that data.
error with_origin(error e, const command_line& line);
std::string_view signal_name(int signal);
/// After this call the first signal ends the process at once, with its status. For commands that leave nothing
/// incomplete behind. `doing` completes the message: "before the training began".
void end_at_first(signal_watch& signals, const std::shared_ptr<reporter>& report, std::string doing);

}  // namespace troupe::cli
