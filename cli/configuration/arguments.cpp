#include "cli/configuration/arguments.hpp"

#include "cli/configuration/joined.hpp"
#include "cli/configuration/nearest.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace troupe::cli {

namespace {

/// The error for what CLI11 left over.
tl::unexpected<error> unexpected(const CLI::App& app, std::string_view command, const std::string& word) {
  std::vector<std::string> flags, places;
  for (const auto* option : app.get_options())
    (option->get_positional() ? places : flags).push_back(option->get_name());
  if (!word.starts_with('-'))
    return misuse(command, fmt::format("unexpected argument '{}': {} takes {}", word, command, joined(places, " ")));
  const std::string name = word.substr(0, word.find('='));
  return misuse(command, fmt::format("unknown flag {}{}", name, did_you_mean(nearest(name, flags))));
}

}  // namespace

tl::unexpected<error> misuse(std::string_view command, std::string message) {
  return fail({errc::invalid_argument, std::move(message), {fmt::format("troupe {} --help lists what it takes", command)}});
}

expected<std::optional<std::string>> parse_arguments(CLI::App& app, std::string_view command, const std::vector<std::string>& arguments) {
  app.allow_extras();
  std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()};
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::ParseError& e) {
    return misuse(command, e.what());
  }
  if (const auto extra = app.remaining(); !extra.empty())
    return unexpected(app, command, extra.front());
  return std::nullopt;
}

}  // namespace troupe::cli
