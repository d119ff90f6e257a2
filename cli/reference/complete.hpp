// What can follow at the end of a command line: commands, flags, their values, and the keys of --set. Shells ask for
// it.
#pragma once

#include "cli/configuration/arguments.hpp"

namespace troupe::cli {

struct completion {
  std::string text;  ///< The whole word. If it ends in '=', no space follows.
  std::string about;
};

enum class path_completion : uint8_t { none, directories, files };

struct completions_found {
  std::vector<completion> words = {};
  path_completion paths = path_completion::none;  ///< What the shell itself adds.
};

/// `words` are those after the name of the program. The last one is being typed and may be empty. `commands` are all
/// commands.
completions_found complete(const std::vector<command_description>& commands, const std::vector<std::string>& words);

/// One line for each word, with its purpose after a tab; also ":files" or ":directories" if the shell is to add those.
std::string to_text(const completions_found& found);

}  // namespace troupe::cli
