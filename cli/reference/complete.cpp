#include "cli/reference/complete.hpp"

#include "cli/configuration/command_line.hpp"
#include "cli/configuration/keys.hpp"

#include <algorithm>

namespace troupe::cli {

namespace {

/// Collects the candidates that begin with the typed text.
class candidates {
 public:
  candidates(completions_found& into, std::string typed) : into_(into), typed_(std::move(typed)) {}

  const std::string& typed() const noexcept { return typed_; }
  void add(const std::string& text, std::string_view about = "") {
    if (text.starts_with(typed_))
      into_.words.push_back({text, std::string{about}});
  }
  void add_all(const std::vector<std::string>& texts, const std::string& before = "") {
    for (const auto& text : texts)
      add(before + text);
  }

 private:
  completions_found& into_;
  std::string typed_;
};

// -- keys ------------------------------------------------------------------------

/// A key as the user would type it: with the numbers in `typed`, and with 0 where that has none.
std::string with_numbers(const std::string& key, const std::string& typed) {
  const auto known = without_number(typed);
  auto text = key.starts_with(known) ? typed + key.substr(known.size()) : key;
  for (size_t at = text.find("[]"); at != std::string::npos; at = text.find("[]", at))
    text.insert(at + 1, "0");
  return text;
}

void add_keys(candidates& to) {
  const auto& typed = to.typed();
  bool found = false;
  for (const auto& key : known_keys()) {
    const auto text = with_numbers(key.name, typed);
    found = found || text.starts_with(typed);
    if (!key.tables)
      to.add(text + "=", key.about);
  }
  if (found || typed.empty())
    return;
  for (const auto& key : known_keys())  // The part after the dot is enough.
    if (const auto last = key.name.substr(key.name.find('.') + 1); !key.tables && keys_ending_in(last).size() == 1)
      to.add(last + "=", key.about);
}

/// Adds the values of a key. `before` is the text before them in the word: "run.recompute=".
void add_values(candidates& to, std::string_view name, const std::string& before) {
  const auto short_for = keys_ending_in(name);
  const auto* key = find_key(short_for.size() == 1 ? short_for.front() : name);
  if (key == nullptr || key->tables)
    return;
  to.add_all(key->kind == option_kind::boolean ? std::vector<std::string>{"true", "false"} : key->choices, before);
  for (const auto& other : key->also)
    to.add(before + other.first, "the same as " + other.second);
  if (key->may_be_none)
    to.add(before + "none");
}

void add_assignments(candidates& to, const std::string& before) {
  const auto typed = to.typed().substr(before.size());
  if (const size_t at = typed.find('='); at != std::string::npos)
    return add_values(to, typed.substr(0, at), before + typed.substr(0, at + 1));
  completions_found keys;
  candidates by_key{keys, typed};
  add_keys(by_key);
  for (const auto& key : keys.words)
    to.add(before + key.text, key.about);
}

// -- arguments -------------------------------------------------------------------

const argument_description* find_flag(const command_description& command, std::string_view name) {
  const auto found = std::find_if(command.flags.begin(), command.flags.end(),
                                  [&](const auto& flag) { return flag.name == name; });
  return found == command.flags.end() ? nullptr : &*found;
}

path_completion paths_of(std::string_view what) {
  const auto has = [what](std::string_view part) { return what.find(part) != std::string_view::npos; };
  return what == "PATH=FILE"                                                             ? path_completion::none
         : has("FILE") || has("PREFIX") || has("PATH") || what == "FROM" || what == "TO" ? path_completion::files
         : has("DIR")                                                                    ? path_completion::directories
                                                                                         : path_completion::none;
}

/// `before` is the text before the value in the same word: "--format=".
void add_values_of(candidates& to, completions_found& found, const argument_description& argument,
                   const std::string& before) {
  if (argument.value == "KEY=VALUE")
    return add_assignments(to, before);
  to.add_all(argument.choices, before);
  if (argument.choices.empty() && before.empty())
    found.paths = paths_of(argument.value.empty() ? argument.name : argument.value);
}

/// Where the word being typed stands: what the words before it say of it.
struct place {
  const argument_description* flag = nullptr;  ///< The word being typed is its value.
  size_t by_place = 0;                         ///< How many positional arguments there are.
  bool only_by_place = false;                  ///< After a "--".
};

place place_after(const command_description& command, const std::vector<std::string>& words) {
  place now;
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    const auto& word = words[i];
    if (now.flag) {
      now.flag = nullptr;
    } else if (now.only_by_place || !word.starts_with('-')) {
      ++now.by_place;
    } else if (word == "--") {
      now.only_by_place = true;
    } else if (const auto* flag = find_flag(command, word == "-h" ? "--help" : word); flag && !flag->value.empty()) {
      now.flag = flag;
    }
  }
  return now;
}

void complete_command(completions_found& found, candidates& to, const command_description& command,
                      const std::vector<std::string>& words) {
  const auto now = place_after(command, words);
  const auto& typed = to.typed();
  if (now.flag)
    return add_values_of(to, found, *now.flag, "");
  if (!now.only_by_place && typed.starts_with('-')) {
    const size_t at = typed.find('=');
    const auto* flag = at == std::string::npos ? nullptr : find_flag(command, typed.substr(0, at));
    if (flag)
      return add_values_of(to, found, *flag, typed.substr(0, at + 1));
    for (const auto& each : command.flags)
      to.add(each.name, each.about);
    return;
  }
  if (command.words.empty())
    return;
  const auto& word = command.words[std::min(now.by_place, command.words.size() - 1)];
  if (now.by_place < command.words.size() || word.repeated)
    add_values_of(to, found, word, "");
}

}  // namespace

completions_found complete(const std::vector<command_description>& commands, const std::vector<std::string>& words) {
  completions_found found;
  candidates to{found, words.empty() ? "" : words.back()};
  if (words.size() < 2) {
    for (const auto& command : commands) {
      const auto summaries = command_summaries();
      const auto its = std::find_if(summaries.begin(), summaries.end(),
                                    [&](const auto& s) { return s.name == command.name; });
      to.add(command.name, its == summaries.end() ? std::string_view{command.about} : its->about);
    }
    to.add("--help", "the commands");
    to.add("--version", "the version of the program");
    return found;
  }
  const auto command = std::find_if(commands.begin(), commands.end(),
                                    [&](const auto& c) { return c.name == words.front(); });
  if (command != commands.end())
    complete_command(found, to, *command, words);
  return found;
}

std::string to_text(const completions_found& found) {
  std::string text;
  if (found.paths != path_completion::none)
    text = found.paths == path_completion::files ? ":files\n" : ":directories\n";
  for (const auto& word : found.words)
    text += word.text + "\t" + word.about + "\n";
  return text;
}

}  // namespace troupe::cli
