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
/// For what is no command; main passes on `help COMMAND`.
int help(const std::vector<std::string>& arguments, reporter& report);
int predict(const command_line& line, const std::shared_ptr<reporter>& report, signal_watch& signals);
int export_model(const command_line& line, const std::shared_ptr<reporter>& report, signal_watch& signals);

/// The arguments of the commands that parse their own flags.
command_description describe_inspect();
command_description describe_checkpoints();
command_description describe_serve();
command_description describe_convert();
command_description describe_completions();
command_description describe_help();
/// All of `command_summaries`, in their order.
std::vector<command_description> describe_commands();

/// Reads the arguments of a command with flags of its own. Returns an exit status if the command ends with that: after
/// printing help, or because the arguments are wrong.
std::optional<int> ended_by_arguments(command_arguments& known, const std::vector<std::string>& arguments, reporter& report);
/// Reports the error. The exit status: 1, and 2 for a misuse.
int failure(reporter& report, const error& e, reported_as what = reported_as::failure);
int usage_failure(reporter& report, const error& e);
constexpr reported_as misuse_if(bool is_misuse) { return is_misuse ? reported_as::misuse : reported_as::failure; }
/// Whether `load_settings` failed by what was asked for, not by a damaged record.
bool is_misuse(const error& e);
/// Adds a note to an error about missing data if a directory's record named that data.
error with_origin(error e, const command_line& line);
std::string_view signal_name(int signal);
/// After this call the first signal ends the process at once, with its status. For commands that leave nothing
/// incomplete behind. `doing` completes the message: "before the training began".
void end_at_first(signal_watch& signals, const std::shared_ptr<reporter>& report, std::string doing);

}  // namespace troupe::cli
