// The arguments of a command: flags, values and words that CLI11 reads, help on request, and the errors for what is left over.
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

/// An argument, as the help has it.
struct argument_description {
  std::string name;                       ///< "--step"; of one that is given by its place "DIR".
  std::string value = {};                 ///< What stands for its value: "N"; empty: it has none, or is given by its place.
  std::string about;
  std::vector<std::string> choices = {};  ///< The values that it has beside others: "best".
  bool repeated = false;                  ///< Of one that is given by its place: it takes all that are left.
};

/// A command, as completions and the manual page need it.
struct command_description {
  std::string name, about, usage;
  std::vector<argument_description> words;  ///< By their place.
  std::vector<argument_description> flags;
};

/// invalid_argument, with a note that names the command's --help.
tl::unexpected<error> misuse(std::string_view command, std::string message);

/// Refers to what it reads into, which stays as it is where nothing is given. Of a value that is given twice the last one counts.
class command_arguments {
 public:
  /// `command` follows the program's name; its help begins with `about` and ends with `usage`.
  command_arguments(std::string command, std::string about, std::string usage);
  ~command_arguments();
  command_arguments(const command_arguments&) = delete;
  command_arguments& operator=(const command_arguments&) = delete;

  const std::string& command() const noexcept { return description_.name; }
  const command_description& description() const noexcept { return description_; }

  /// By its place. `choices` are the values that it can have, if they are known.
  void word(const std::string& name, std::string& into, const std::string& about, std::vector<std::string> choices = {});
  void words(const std::string& name, std::vector<std::string>& into, const std::string& about);  ///< All that are left.
  void flag(const std::string& name, bool& into, const std::string& about);
  /// `what` stands for the value in the help: "N", "csv|jsonl"; the parts in small letters are choices.
  void value(const std::string& name, const std::string& what, std::optional<std::string>& into, const std::string& about);
  void value(const std::string& name, const std::string& what, std::string& into, const std::string& about);
  void values(const std::string& name, const std::string& what, std::vector<std::string>& into, const std::string& about);  ///< One at a time.

  /// What `--help NAME` prints, and `--help all` behind the help itself. The order is kept.
  void subject(const std::string& name, std::string text);

  /// Reads the arguments that follow the name of the command. A text is the help that was asked for: it is printed, and nothing else is done.
  /// invalid_argument: a value that is missing; an unknown flag or subject, with the known one that is most like it; a word too many.
  expected<std::optional<std::string>> read(const std::vector<std::string>& arguments);

 private:
  expected<std::string> help_on(const std::string& name) const;

  command_description description_;
  std::vector<std::pair<std::string, std::string>> subjects_;
  const std::unique_ptr<CLI::App> app_;
};

}  // namespace troupe::cli
