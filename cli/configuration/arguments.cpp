#include "cli/configuration/arguments.hpp"

#include "cli/configuration/joined.hpp"
#include "cli/configuration/nearest.hpp"

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace troupe::cli {

namespace {

/// The error for a word that CLI11 could not parse.
tl::unexpected<error> unexpected(const CLI::App& app, std::string_view command, const std::string& word) {
  std::vector<std::string> flags, places;
  for (const auto* option : app.get_options())
    (option->get_positional() ? places : flags).push_back(option->get_name());
  if (!word.starts_with('-'))
    return misuse(command, fmt::format("unexpected argument '{}': {} takes {}", word, command, joined(places, " ")));
  const std::string name = word.substr(0, word.find('='));
  return misuse(command, fmt::format("unknown flag {}{}", name, did_you_mean(nearest(name, flags))));
}

/// A flag with a value. `what` is split at '|'; the parts in lower case are the choices of the value.
argument_description valued(const std::string& name, const std::string& what, const std::string& about) {
  argument_description argument{.name = name, .value = what, .about = about};
  for (size_t begin = 0; begin <= what.size();) {
    const size_t end = std::min(what.find('|', begin), what.size());
    const auto part = what.substr(begin, end - begin);
    if (!part.empty() && std::all_of(part.begin(), part.end(), [](char c) { return c >= 'a' && c <= 'z'; }))
      argument.choices.push_back(part);
    begin = end + 1;
  }
  return argument;
}

}  // namespace

tl::unexpected<error> misuse(std::string_view command, std::string message) {
  return fail(
      {errc::invalid_argument, std::move(message), {fmt::format("troupe {} --help lists what it takes", command)}});
}

command_arguments::command_arguments(std::string command, std::string about, std::string usage)
  : description_{.name = std::move(command),
                 .about = std::move(about),
                 .usage = std::move(usage),
                 .words = {},
                 .flags = {}},
    app_(std::make_unique<CLI::App>(description_.about, fmt::format("troupe {}", description_.name))) {
  app_->footer(description_.usage);
  app_->allow_extras();
  description_.flags.push_back({.name = "--help", .about = "this help"});
}

command_arguments::~command_arguments() = default;

void command_arguments::word(const std::string& name, std::string& into, const std::string& about,
                             std::vector<std::string> choices) {
  description_.words.push_back({.name = name, .about = about, .choices = std::move(choices)});
  app_->add_option(name, into, about)->type_name("");
}

void command_arguments::words(const std::string& name, std::vector<std::string>& into, const std::string& about) {
  description_.words.push_back({.name = name, .about = about, .repeated = true});
  app_->add_option(name, into, about)->type_name("");
}

void command_arguments::flag(const std::string& name, bool& into, const std::string& about) {
  description_.flags.push_back({.name = name, .about = about});
  app_->add_flag(name, into, about);
}

void command_arguments::value(const std::string& name, const std::string& what, std::optional<std::string>& into,
                              const std::string& about, const std::vector<std::string>& choices) {
  auto& added = description_.flags.emplace_back(valued(name, what, about));
  added.choices.insert(added.choices.end(), choices.begin(), choices.end());
  // Through a string, because CLI11 leaves an optional absent if the value is empty.
  const auto keep = [&into](const std::string& text) { into = text; };
  app_->add_option_function<std::string>(name, keep, about)
      ->type_name(what)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void command_arguments::value(const std::string& name, const std::string& what, std::string& into,
                              const std::string& about) {
  description_.flags.push_back(valued(name, what, about));
  app_->add_option(name, into, about)->type_name(what)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void command_arguments::values(const std::string& name, const std::string& what, std::vector<std::string>& into,
                               const std::string& about) {
  description_.flags.push_back(valued(name, what, about));
  app_->add_option(name, into, about)->type_name(what)->allow_extra_args(false);
}

void command_arguments::subject(const std::string& name, std::string text) {
  if (subjects_.empty()) {
    auto& help = description_.flags.front();
    help.value = "[SUBJECT]";
    help.about = "this help; of a subject (listed below), or of all";
    help.choices = {"all"};
    app_->set_help_flag("-h,--help", help.about)->type_name("[SUBJECT]");
  }
  description_.flags.front().choices.push_back(name);
  subjects_.emplace_back(name, std::move(text));
}

expected<std::string> command_arguments::help_on(const std::string& name) const {
  if (name.empty() || subjects_.empty())
    return app_->help();
  std::string text = name == "all" ? app_->help() : "";
  std::vector<std::string> names{"all"};
  for (const auto& [known, its] : subjects_) {
    text += name == "all" ? "\n" + its : name == known ? its : "";
    names.push_back(known);
  }
  if (text.empty())
    return misuse(description_.name, fmt::format("there is help on {}, and none on '{}'{}", joined(names, ", "), name,
                                                 did_you_mean(nearest(name, names))));
  return text;
}

namespace {

/// The subject after a --help among the arguments; empty if none follows. Absent without --help.
std::optional<std::string> help_asked_for(const std::vector<std::string>& arguments) {
  constexpr std::string_view with_subject = "--help=";
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  const auto asked = std::find_if(arguments.begin(), end, [&](const std::string& a) {
    return a == "--help" || a == "-h" || a.starts_with(with_subject);
  });
  if (asked == end)
    return std::nullopt;
  if (asked->starts_with(with_subject))
    return asked->substr(with_subject.size());
  return asked + 1 == end || (asked + 1)->starts_with('-') ? "" : *(asked + 1);
}

}  // namespace

expected<std::optional<std::string>> command_arguments::read(const std::vector<std::string>& arguments) {
  if (const auto asked = help_asked_for(arguments))
    return help_on(*asked).map([](std::string text) { return std::optional{std::move(text)}; });
  std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()};
  try {
    app_->parse(reversed);
  } catch (const CLI::ParseError& e) {
    return misuse(description_.name, e.what());
  }
  if (const auto extra = app_->remaining(); !extra.empty())
    return unexpected(*app_, description_.name, extra.front());
  return std::nullopt;
}

}  // namespace troupe::cli
