// The ways in which commands end: by their arguments, by an error, by a signal.
#include "cli/commands/commands.hpp"
#include "cli/terminal/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace troupe::cli {

std::optional<int> ended_by_arguments(command_arguments& known, const std::vector<std::string>& arguments,
                                      console_printer& console) {
  const auto help = known.read(arguments);
  if (!help)
    return usage_failure(console, help.error());
  if (*help)
    write_output(**help);
  return *help ? std::optional<int>{succeeded} : std::nullopt;
}

int failure(console_printer& console, const error& e, printed_as what) {
  console.fail(e, what);
  return what == printed_as::misuse ? misused : failed;
}

int usage_failure(console_printer& console, const error& e) { return failure(console, e, printed_as::misuse); }

bool is_misuse(const error& e) { return e.category == errc::invalid_argument || e.category == errc::not_found; }

error with_origin(error e, const command_line& line) {
  const auto names_data = [](const assignment& a) {
    return a.key.starts_with("input.") || a.key.starts_with("evaluate");
  };
  const bool is_of_record = std::none_of(line.set.begin(), line.set.end(), names_data)
                            && std::none_of(line.flags.begin(), line.flags.end(), names_data);
  if (!line.directory.empty() && is_of_record && e.category == errc::not_found)
    e.notes.push_back(line.directory + " says that its last run read this; --data or --set names other data");
  return e;
}

std::string_view signal_name(int signal) {
  return signal == SIGINT ? "SIGINT" : signal == SIGHUP ? "SIGHUP" : "SIGTERM";
}

void end_at_first(signal_watch& signals, const std::shared_ptr<console_printer>& console, std::string doing) {
  signals.at_first([&signals, console, doing = std::move(doing)] {
    console->stop(doing, signal_name(signals.first()));
    _exit(128 + signals.first());
  });
}

}  // namespace troupe::cli
