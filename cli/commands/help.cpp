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

struct request {
  std::string topic;
};

std::vector<std::string> topics() {
  std::vector<std::string> names;
  for (const auto& page : guide_pages())
    names.emplace_back(page.name);
  names.emplace_back(configure);
  return names;
}

void add_arguments(command_arguments& known, request& r) {
  auto words = topics();
  for (const auto& command : command_summaries())
    words.emplace_back(command.name);
  known.word("TOPIC", r.topic, "a page of the guide, or a command; without one, a list of both", words);
}

std::string list_of_topics() {
  std::string text = "\nTopics of the guide:\n";
  for (const auto& page : guide_pages())
    text += fmt::format("  {:<11}  {}\n", page.name, page.title);
  text += fmt::format("  {:<11}  {}\n", configure, "Every key of a configuration file");
  return text + "\n  troupe help TOPIC prints one.\n";
}

/// In the window of a terminal lines are wrapped; code stays as it is, so that it can be copied.
void print_page(std::string_view markdown) {
  const auto text = page_text(markdown);
  const auto window = output_columns();
  if (!window) {
    write_text(text);
    return;
  }
  std::string shown;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const auto line = std::string_view{text}.substr(begin, end - begin);
    shown.append(line.starts_with("    ") ? std::string{line} : wrapped(line, *window)).append("\n");
    begin = end + 1;
  }
  write_text(shown);
}

}  // namespace

command_description describe_help() {
  request r;
  command_arguments known{"help", about, usage};
  add_arguments(known, r);
  return known.description();
}

int help(const std::vector<std::string>& arguments, reporter& report) {
  request r;
  command_arguments known{"help", about, usage};
  add_arguments(known, r);
  if (const auto status = ended_by_arguments(known, arguments, report))
    return *status;
  if (r.topic.empty()) {
    write_output(general_help() + list_of_topics());
    return succeeded;
  }
  for (const auto& page : guide_pages())
    if (page.name == r.topic) {
      print_page(page.text);
      return succeeded;
    }
  if (r.topic == configure) {
    print_page(configure_page());
    return succeeded;
  }
  return usage_failure(report, misuse("help", fmt::format("there is help on {}, and on commands; none on '{}'{}", joined(topics(), ", "), r.topic,
                                                          did_you_mean(nearest(r.topic, topics())))).value());
}

}  // namespace troupe::cli
