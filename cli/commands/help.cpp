// troupe help: a page of the guide, or the help of a command.
#include "cli/commands/commands.hpp"
#include "cli/configuration/joined.hpp"
#include "cli/configuration/nearest.hpp"
#include "cli/reference/configure_page.hpp"
#include "cli/reference/guide_pages.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/output.hpp"

#include <fmt/format.h>

namespace troupe::cli {

namespace {

constexpr const char* about = "Prints a page of the guide, or the help of a command.";
constexpr const char* usage = R"(
Examples:
  troupe help
  troupe help first_model | less
  troupe help train                      the same as troupe train --help

Exit status:
  0    printed
  2    misuse: there is no such topic or command
)";

constexpr std::string_view configure = "configure";

struct invocation {
  std::string topic;
};

std::vector<std::string> topics() {
  std::vector<std::string> names;
  for (const auto& page : guide_pages())
    names.emplace_back(page.name);
  names.emplace_back(configure);
  return names;
}

void add_arguments(command_arguments& known, invocation& r) {
  auto words = topics();
  for (const auto& one : command_summaries())
    words.emplace_back(one.name);
  known.word("TOPIC", r.topic, "a page of the guide, or a command; without one, a list of both", words);
}

std::string list_of_topics() {
  std::string text = "\nTopics of the guide:\n";
  for (const auto& page : guide_pages())
    text += fmt::format("  {:<11}  {}\n", page.name, page.title);
  text += fmt::format("  {:<11}  {}\n", configure, "Every key of a configuration file");
  return text + "\n  troupe help TOPIC prints one.\n";
}

/// In the window of a terminal, paragraphs are wrapped at its width.
void print_page(std::string_view markdown) {
  const auto window = output_columns();
  const auto wrap = [&](const std::string& line, size_t more) { return wrapped(line, *window, more); };
  write_text(window ? page_text(markdown, wrap) : page_text(markdown));
}

constexpr own_command<invocation> command{"help", about, usage, add_arguments};

}  // namespace

command_description describe_help() { return command.description(); }

int help(const std::vector<std::string>& arguments, console_printer& console) {
  const auto r = command.read(arguments, console);
  if (!r)
    return r.error();
  if (r->topic.empty()) {
    write_output(general_help() + list_of_topics());
    return succeeded;
  }
  for (const auto& page : guide_pages())
    if (page.name == r->topic) {
      print_page(page.text);
      return succeeded;
    }
  if (r->topic == configure) {
    print_page(configure_page());
    return succeeded;
  }
  return usage_failure(console,
                       {errc::invalid_argument,
                        fmt::format("there is no help on '{}': the topics are {}, and the commands{}", r->topic,
                                    joined(topics(), ", "), did_you_mean(nearest(r->topic, topics()))),
                        {"troupe help lists them"}});
}

}  // namespace troupe::cli
