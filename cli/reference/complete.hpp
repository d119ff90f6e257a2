// What can stand where a command line ends: commands, flags, their values, and the keys of --set. Shells ask for it.
#pragma once

#include "cli/configuration/arguments.hpp"

namespace troupe::cli {

struct completion {
  std::string text;  ///< The whole word; one that ends in '=' is to be gone on with.
  std::string about;
};

enum class path_completion : uint8_t { none, directories, files };

struct completions_found {
  std::vector<completion> words = {};
  path_completion paths = path_completion::none;  ///< What the shell adds by itself.
};

/// `words` follow the name of the program; the last one is being typed, and may be empty. `commands` are all there are.
completions_found complete(const std::vector<command_description>& commands, const std::vector<std::string>& words);

/// A line for each word, with its purpose behind a tab; ":files" or ":directories" where the shell adds those.
std::string to_text(const completions_found& found);

}  // namespace troupe::cli
