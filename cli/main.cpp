// The `troupe` program: main chooses the subcommand, and each subcommand has a file of its own.
#include "cli/commands/commands.hpp"
#include "cli/configuration/nearest.hpp"
#include "cli/terminal/last_resort.hpp"
#include "cli/terminal/output.hpp"

#include <unistd.h>

#include <algorithm>

namespace troupe::cli {

namespace {

int run(const std::vector<std::string>& arguments) {
  const std::string name = arguments.empty() ? "--help" : arguments.front();
  if (name == "--version") {
    write_output("troupe " TROUPE_VERSION "\n");
    return succeeded;
  }
  if (name == "--help" || name == "-h") {
    if (arguments.empty())
      return write_error(general_help()), misused;
    write_output(general_help());
    return succeeded;
  }
  std::vector<std::string> rest{arguments.begin() + 1, arguments.end()};
  if (const auto known = command_summaries();
      name == "help" && rest.size() == 1
      && std::any_of(known.begin(), known.end(), [&](const auto& c) { return c.name == rest.front(); }))
    return run({rest.front(), "--help"});
  // The flags are not parsed yet, but with --json an error in them must be reported as JSON.
  const bool json = std::count(rest.begin(), rest.end(), "--json") > 0;
  console_printer early{standard_console(json, true)};
  if (const auto ready = end_in_order(json); !ready)
    return failure(early, ready.error());
  signal_watch signals;  // Before any other thread.
  if (name == "inspect" || name == "checkpoints" || name == "top" || name == "convert" || name == "completions"
      || name == "help") {
    signals.at_first([&] { _exit(128 + signals.first()); });  // One writes nothing, the others leave nothing half done.
    return name == "inspect"       ? inspect(rest, early)
           : name == "top"         ? top(rest, early)
           : name == "convert"     ? convert(rest, early)
           : name == "completions" ? completions(rest, early)
           : name == "help"        ? help(rest, early)
                                   : checkpoints(rest, early);
  }
  if (name == "serve")
    return serve(rest, early, signals);
  static const std::map<std::string,
                        int (*)(const command_line&, const std::shared_ptr<console_printer>&, signal_watch&)>
      commands{{"train", train},       {"check", check},     {"search", search},      {"experiment", experiment},
               {"evaluate", evaluate}, {"predict", predict}, {"export", export_model}};
  const auto command = commands.find(name);
  if (command == commands.end()) {
    std::vector<std::string> names;
    for (const auto& known : command_summaries())
      names.emplace_back(known.name);
    return usage_failure(early, {errc::invalid_argument,
                                 "unknown command " + name + did_you_mean(nearest(name, names)),
                                 {"troupe --help lists the commands"}});
  }
  const auto line = parse_command_line(name, rest);
  if (!line)
    return usage_failure(early, line.error());
  if (line->help) {
    write_output(*line->help);
    return succeeded;
  }
  const auto console = std::make_shared<console_printer>(standard_console(line->json, line->quiet));
  return command->second(*line, console, signals);
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
