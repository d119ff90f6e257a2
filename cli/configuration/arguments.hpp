// What every command makes of its arguments: flags that CLI11 reads, help on request, and the errors for what is left over.
#pragma once

#include <troupe/error.hpp>

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace troupe::cli {

/// invalid_argument, with a note that names the command's --help.
tl::unexpected<error> misuse(std::string_view command, std::string message);

/// Reads the arguments that follow the name of the command into what `app` was told. A text is the help that was asked for: it is printed, and
/// nothing else is done. invalid_argument: a value that is missing; an unknown flag, with the known one that is most like it; a word too many.
expected<std::optional<std::string>> parse_arguments(CLI::App& app, std::string_view command, const std::vector<std::string>& arguments);

}  // namespace troupe::cli
