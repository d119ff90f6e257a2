// The `troupe` program: main chooses the subcommand, and each subcommand has a file of its own.
#include "cli/commands/commands.hpp"
#include "cli/configuration/nearest.hpp"
#include "cli/terminal/last_resort.hpp"
#include "cli/terminal/output.hpp"

#include <algorithm>
#include <csignal>

#include <unistd.h>

namespace troupe::cli {

std::optional<int> ended_by_arguments(command_arguments& known, const std::vector<std::string>& arguments, reporter& report) {
  const auto help = known.read(arguments);
  if (!help)
    return failure(report, help.error(), true);
  if (*help)
    write_output(**help);
  return *help ? std::optional<int>{succeeded} : std::nullopt;
}

int failure(reporter& report, const error& e, bool misuse) {
  report.fail(e, misuse);
  return misuse ? misused : failed;
}

bool is_misuse(const error& e) { return e.category == errc::invalid_argument || e.category == errc::not_found; }

error with_origin(error e, const command_line& line) {
  if (!line.directory.empty() && e.category == errc::not_found)
    e.notes.push_back(line.directory + " says that its last run read this; --data or --set names other data");
  return e;
}

std::string_view signal_name(int signal) {
  return signal == SIGINT ? "SIGINT" : signal == SIGHUP ? "SIGHUP" : "SIGTERM";
}

void end_at_first(signal_watch& signals, const std::shared_ptr<reporter>& report, std::string doing) {
  signals.at_first([&signals, report, doing = std::move(doing)] {
    report->stop(doing, signal_name(signals.first()));
    _exit(128 + signals.first());
  });
}

namespace {

int run(const std::vector<std::string>& arguments) {
  const std::string name = arguments.empty() ? "--help" : arguments.front();
  if (name == "--version") {
    write_output("troupe " TROUPE_VERSION "\n");
    return succeeded;
  }
  if (name == "--help" || name == "-h" || name == "help") {
    if (arguments.empty())
      return write_error(general_help()), misused;
    write_output(general_help());
    return succeeded;
  }
  const std::vector<std::string> rest{arguments.begin() + 1, arguments.end()};
  // The flags are not parsed yet, but with --json an error in them must be reported as JSON.
  const bool json = std::count(rest.begin(), rest.end(), "--json") > 0;
  reporter early{standard_reporter(json, true)};
  if (const auto ready = end_in_order(json); !ready)
    return failure(early, ready.error(), false);
  signal_watch signals;  // Before any other thread.
  if (name == "inspect" || name == "checkpoints" || name == "convert") {
    signals.at_first([&] { _exit(128 + signals.first()); });  // One writes nothing, the others leave nothing half done.
    return name == "inspect" ? inspect(rest, early) : name == "convert" ? convert(rest, early) : checkpoints(rest, early);
  }
  if (name == "serve")
    return serve(rest, early, signals);
  static const std::map<std::string, int (*)(const command_line&, const std::shared_ptr<reporter>&, signal_watch&)> commands{
    {"train", train}, {"evaluate", evaluate}, {"predict", predict}, {"export", export_model}};
  const auto command = commands.find(name);
  if (command == commands.end())
    return failure(early, {errc::invalid_argument,
                           "unknown command " + name
                             + did_you_mean(nearest(name, {"train", "evaluate", "predict", "export", "serve", "inspect", "checkpoints", "convert"})),
                           {"troupe --help lists the commands"}}, true);
  const auto line = parse_command_line(name, rest);
  if (!line)
    return failure(early, line.error(), true);
  if (line->help) {
    write_output(*line->help);
    return succeeded;
  }
  const auto report = std::make_shared<reporter>(standard_reporter(line->json, line->quiet));
  return command->second(*line, report, signals);
}

int run_in_order(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (...) {
    return fail_for_want();
  }
}

}  // namespace

}  // namespace troupe::cli

int main(int argc, char** argv) {
  troupe::cli::occupy_standard_descriptors();
  troupe::cli::ignore_signals_of_writing();
  return troupe::cli::close_output(troupe::cli::run_in_order(argc, argv));
}
