// The arguments of a command, read by CLI11: flags, values and words; help on request; errors for unknown arguments.
//
//   command_arguments known{"checkpoints", "Lists, verifies and deletes the checkpoints of a model directory.", usage};
//   known.word("DIR", r.directory, "the model directory");
//   known.flag("--json", r.json, "one JSON object");
//   known.subject("things", "What can be moved: ...");  // For --help things.
//   const auto help = known.read(arguments);
#pragma once

#include <troupe/error.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace troupe::cli {

/// An argument as the help shows it.
struct argument_description {
  std::string name;  ///< "--step", or "DIR" for a positional argument.
  /// A placeholder for the value: "N". Empty if it has none, or is positional.
  std::string value = {};
  std::string about;
  std::vector<std::string> choices = {};  ///< Values with a fixed spelling, such as "best".
  bool repeated = false;                  ///< A positional argument that takes all remaining words.
};

/// A command as completions and the manual page show it.
struct command_description {
  std::string name, about, usage;
  std::vector<argument_description> words;  ///< The positional arguments, in order.
  std::vector<argument_description> flags;
};

/// invalid_argument, with a note that refers to the command's --help.
tl::unexpected<error> misuse(std::string_view command, std::string message);

/// Keeps references to the variables that it reads into; a variable whose argument is not given stays as it is. If a
/// value is given twice, the last one counts.
class command_arguments {
 public:
  /// `command` is the name after that of the program. Its help begins with `about` and ends with `usage`.
  command_arguments(std::string command, std::string about, std::string usage);
  ~command_arguments();
  command_arguments(const command_arguments&) = delete;
  command_arguments& operator=(const command_arguments&) = delete;

  const std::string& command() const noexcept { return description_.name; }
  const command_description& description() const noexcept { return description_; }

  /// A positional argument. `choices` are its possible values, if they are known.
  void word(const std::string& name, std::string& into, const std::string& about,
            std::vector<std::string> choices = {});
  /// Takes all remaining words.
  void words(const std::string& name, std::vector<std::string>& into, const std::string& about);
  void flag(const std::string& name, bool& into, const std::string& about);
  /// `what` is the placeholder for the value in the help: "N", "csv|jsonl". Its parts in small letters are choices, as
  /// are `choices`.
  void value(const std::string& name, const std::string& what, std::optional<std::string>& into,
             const std::string& about, const std::vector<std::string>& choices = {});
  void value(const std::string& name, const std::string& what, std::string& into, const std::string& about);
  /// One value for each occurrence of the flag.
  void values(const std::string& name, const std::string& what, std::vector<std::string>& into,
              const std::string& about);

  /// A text that `--help NAME` prints, and that `--help all` prints after the general help, in the order of these
  /// calls.
  void subject(const std::string& name, std::string text);

  /// Reads the arguments after the name of the command. If help was asked for, returns its text, which the caller
  /// prints before it ends. invalid_argument: a missing value; an unknown flag or subject, with the most similar known
  /// one; a surplus word.
  expected<std::optional<std::string>> read(const std::vector<std::string>& arguments);

 private:
  expected<std::string> help_on(const std::string& name) const;

  command_description description_;
  std::vector<std::pair<std::string, std::string>> subjects_;
  const std::unique_ptr<CLI::App> app_;
};

}  // namespace troupe::cli
