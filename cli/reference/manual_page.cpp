#include "cli/reference/manual_page.hpp"

#include "cli/configuration/command_line.hpp"
#include "cli/configuration/joined.hpp"
#include "cli/configuration/keys.hpp"
#include "cli/reference/configure_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace troupe::cli {

namespace {

constexpr std::string_view manual_beginning = R"(.SH NAME
troupe \- trains, evaluates, exports and serves models
.SH SYNOPSIS
.B troupe
.I COMMAND
.RI [ ARGUMENT ...]
.br
.B troupe \-\-version
.SH DESCRIPTION
Troupe trains a model that a configuration file describes, saves and evaluates it as it goes, and goes on where it
stopped. Section COMMANDS has the commands with their flags, section CONFIGURATION KEYS every key of a configuration
file.
)";

/// Escapes a text for roff: no character is markup, and no line begins with a request.
std::string plain(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n'))
      escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
  }
  return escaped;
}

std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(std::string_view text) { return text.empty() ? "" : "\\fI" + plain(text) + "\\fR"; }

/// Keeps indented lines as they are, and fills the lines of a paragraph.
std::string body(const std::string& text) {
  enum class form { none, filled, kept } now = form::none;
  std::string page;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    const auto next = line.empty() ? form::none : line.front() == ' ' ? form::kept : form::filled;
    if (next != now) {
      page += now == form::kept ? ".fi\n" : "";
      page += next == form::kept ? ".nf\n" : next == form::filled ? ".PP\n" : "";
    }
    page += line.empty() ? "" : plain(line) + "\n";
    now = next;
  }
  return page + (now == form::kept ? ".fi\n" : "");
}

std::string section_of(const command_description& command) {
  std::string words;
  for (const auto& word : command.words)
    words += fmt::format(" [{}{}]", italic(word.name), word.repeated ? "..." : "");
  auto text = fmt::format(".SS {}{} [{}...]\n{}\n", bold("troupe " + command.name), words, italic("FLAG"),
                          plain(command.about));
  for (const auto& word : command.words)
    text += fmt::format(".TP\n{}\n{}\n", italic(word.name), plain(word.about));
  for (const auto& flag : command.flags)
    text += fmt::format(".TP\n{}{}{}\n{}\n", bold(flag.name), flag.value.empty() ? "" : " ", italic(flag.value),
                        plain(flag.about));
  return text + body(command.usage);
}

/// The range of a key, without the backquotes of Markdown.
std::string range_of(const key_info& key) {
  auto range = range_text(key);
  std::erase(range, '`');
  return range;
}

std::string entry_of(const key_info& key) {
  std::vector<std::string> parts{type_text(key)};
  if (const auto range = range_of(key); !range.empty())
    parts.push_back(range);
  if (!key.standard.empty())
    parts.push_back("default " + key.standard);
  return fmt::format(".TP\n{}\n{} ({})\n", bold(key.name), plain(key.about), plain(joined(parts, "; ")));
}

}  // namespace

std::string manual_page(const std::vector<command_description>& commands) {
  std::string page = ".TH TROUPE 1 \"\" \"troupe " TROUPE_VERSION "\" \"User Commands\"\n";
  page += manual_beginning;
  page += ".SH COMMANDS\n";
  for (const auto& command : commands)
    page += section_of(command);
  page +=
      ".SH CONFIGURATION KEYS\nA key belongs to a table of a TOML file. "
      "\\fB\\-\\-set\\fR \\fIKEY\\fR=\\fIVALUE\\fR sets it too, and overrides the file.\n";
  for (const auto& table : key_tables()) {
    page += fmt::format(".SS [{}]\n{}\n", plain(table.name), plain(table.about));
    for (const auto& key : known_keys())
      if (std::string_view{key.name}.substr(0, key.name.find_first_of(".[")) == table.name)
        page += entry_of(key);
  }
  return page;
}

}  // namespace troupe::cli
