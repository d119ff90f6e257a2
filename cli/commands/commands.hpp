// The subcommands. Each returns the exit status of main.
#pragma once

#include "cli/configuration/arguments.hpp"
#include "cli/configuration/command_line.hpp"
#include "cli/terminal/console_printer.hpp"
#include "cli/terminal/signals.hpp"

namespace troupe::cli {

int train(const command_line& line, const std::shared_ptr<console_printer>& console, signal_watch& signals);
int check(const command_line& line, const std::shared_ptr<console_printer>& console, signal_watch& signals);
int experiment(const command_line& line, const std::shared_ptr<console_printer>& console, signal_watch& signals);
int search(const command_line& line, const std::shared_ptr<console_printer>& console, signal_watch& signals);
int evaluate(const command_line& line, const std::shared_ptr<console_printer>& console, signal_watch& signals);
/// These commands parse flags of their own: `arguments` are those after the command's name. The console printer gets
/// failures only.
int inspect(const std::vector<std::string>& arguments, console_printer& console);
int checkpoints(const std::vector<std::string>& arguments, console_printer& console);
int serve(const std::vector<std::string>& arguments, console_printer& console, signal_watch& signals);
int top(const std::vector<std::string>& arguments, console_printer& console);
int convert(const std::vector<std::string>& arguments, console_printer& console);
int completions(const std::vector<std::string>& arguments, console_printer& console);
/// For what is no command; main passes on `help COMMAND`.
int help(const std::vector<std::string>& arguments, console_printer& console);
int predict(const command_line& line, const std::shared_ptr<console_printer>& console, signal_watch& signals);
int export_model(const command_line& line, const std::shared_ptr<console_printer>& console, signal_watch& signals);

/// The arguments of the commands that parse their own flags.
command_description describe_inspect();
command_description describe_checkpoints();
command_description describe_serve();
command_description describe_top();
command_description describe_convert();
command_description describe_completions();
command_description describe_help();
/// All of `command_summaries`, in their order.
std::vector<command_description> describe_commands();

/// Reads the arguments of a command with flags of its own. Returns an exit status if the command ends with that: after
/// printing help, or because the arguments are wrong.
std::optional<int> ended_by_arguments(command_arguments& known, const std::vector<std::string>& arguments,
                                      console_printer& console);
/// A command with flags of its own: its text, and a function that adds its flags and words, whose values go into an
/// `Invocation`.
template <class Invocation>
struct own_command {
  const char* name;
  const char* about;
  const char* usage;
  void (*add_arguments)(command_arguments& known, Invocation& into);

  command_description description() const {
    Invocation values;
    command_arguments known{name, about, usage};
    add_arguments(known, values);
    return known.description();
  }
  /// What the arguments ask for, or the exit status if the command ends with them (`ended_by_arguments`).
  tl::expected<Invocation, int> read(const std::vector<std::string>& arguments, console_printer& console) const {
    Invocation values;
    command_arguments known{name, about, usage};
    add_arguments(known, values);
    if (const auto status = ended_by_arguments(known, arguments, console))
      return tl::unexpected{*status};
    return values;
  }
};
/// Reports the error. The exit status: 1, and 2 for a misuse.
int failure(console_printer& console, const error& e, printed_as what = printed_as::failure);
int usage_failure(console_printer& console, const error& e);
constexpr printed_as misuse_if(bool is_misuse) { return is_misuse ? printed_as::misuse : printed_as::failure; }
/// Whether `load_settings` failed by what was asked for, not by a damaged record.
bool is_misuse(const error& e);
/// Adds a note to an error about missing data if a directory's record named that data.
error with_origin(error e, const command_line& line);
std::string_view signal_name(int signal);
/// After this call the first signal ends the process at once, with its status. For commands that leave nothing
/// incomplete behind. `doing` completes the message: "before the training began".
void end_at_first(signal_watch& signals, const std::shared_ptr<console_printer>& console, std::string doing);

}  // namespace troupe::cli
