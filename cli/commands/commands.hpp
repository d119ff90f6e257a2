// The subcommands. Each returns what main returns.
#pragma once

#include "cli/configuration/command_line.hpp"
#include "cli/terminal/reporter.hpp"
#include "cli/terminal/signals.hpp"

namespace troupe::cli {

int train(const command_line& line, const std::shared_ptr<reporter>& report, signal_watch& signals);
int evaluate(const command_line& line, const std::shared_ptr<reporter>& report, signal_watch& signals);
/// These have flags of their own: `arguments` follow the name. Of the reporter they use nothing but how it fails.
int inspect(const std::vector<std::string>& arguments, reporter& report);
int checkpoints(const std::vector<std::string>& arguments, reporter& report);
int predict(const command_line& line, const std::shared_ptr<reporter>& report, signal_watch& signals);

/// 2 for a value that can never be, 1 for everything else.
int failure(reporter& report, const error& e, bool misuse);
std::string_view signal_name(int signal);
/// From now on the first signal ends the process at once, with its status: for what leaves nothing behind that could be half done.
/// `doing` is what is told: "before the training began".
void end_at_first(signal_watch& signals, const std::shared_ptr<reporter>& report, std::string doing);

}  // namespace troupe::cli
