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

command_arguments::command_arguments(std::string command, std::string about, std::string usage)
  : command_(std::move(command)), app_(std::make_unique<CLI::App>(std::move(about), fmt::format("troupe {}", command_))) {
  app_->footer(std::move(usage));
  app_->allow_extras();
}

command_arguments::~command_arguments() = default;

void command_arguments::word(const std::string& name, std::string& into, const std::string& about) {
  app_->add_option(name, into, about)->type_name("");
}

void command_arguments::words(const std::string& name, std::vector<std::string>& into, const std::string& about) {
  app_->add_option(name, into, about)->type_name("");
}

void command_arguments::flag(const std::string& name, bool& into, const std::string& about) { app_->add_flag(name, into, about); }

void command_arguments::value(const std::string& name, const std::string& what, std::optional<std::string>& into, const std::string& about) {
  // As a text first: of an optional CLI11 makes nothing where the value is empty.
  const auto keep = [&into](const std::string& text) { into = text; };
  app_->add_option_function<std::string>(name, keep, about)->type_name(what)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void command_arguments::value(const std::string& name, const std::string& what, std::string& into, const std::string& about) {
  app_->add_option(name, into, about)->type_name(what)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void command_arguments::values(const std::string& name, const std::string& what, std::vector<std::string>& into, const std::string& about) {
  app_->add_option(name, into, about)->type_name(what)->allow_extra_args(false);
}

expected<std::optional<std::string>> command_arguments::read(const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()};
  try {
    app_->parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return app_->help();
  } catch (const CLI::ParseError& e) {
    return misuse(command_, e.what());
  }
  if (const auto extra = app_->remaining(); !extra.empty())
    return unexpected(*app_, command_, extra.front());
  return std::nullopt;
}

}  // namespace troupe::cli
