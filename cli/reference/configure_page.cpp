#include "cli/reference/configure_page.hpp"

#include "cli/configuration/explained_fields.hpp"
#include "cli/configuration/joined.hpp"

#include <fmt/format.h>

namespace troupe::cli {

namespace {

constexpr std::string_view page_beginning = R"(# Configuration keys

<!-- Made from the option tables: `./dev readme` writes this page, and a test compares it with them. -->

Every key of a configuration file. `troupe train --help all` prints the same list in the terminal,
and `troupe train --help run` prints one table.

- The commands `train`, `check`, `search`, `experiment`, `evaluate`, `predict`, `export` and
  `inspect` read a TOML file: `--config FILE`. It has a [model], or a [search] that `troupe search`
  runs.
- `--set KEY=VALUE` sets one key: `--set run.save_checkpoints_steps=100`. A list is written with
  commas: `--set model.hidden_units=256,128`. An element of a list of tables has a number, and the
  first one is 0: `--set model.layers[6].units=64`.
- Some keys have a flag of their own: `--max-steps` sets `run.max_steps`. A flag overrides `--set`,
  and both override the file.
- An unknown key, a value of another type and a value outside of its range are errors. The message
  names the key, the value, and what would be right.
- A default of – means that the key is not set. The effect says what happens then.
- An effect that begins with names and a colon is that of a key which only these models, layers,
  heads, rules, schedules, generators or ensemblers have.

| table | what it configures |
| --- | --- |
)";

/// Escapes a text for the cell of a table, so that no character is markup.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view{"|<>*\\`"}.find(c) != std::string_view::npos)
      escaped += '\\';
    escaped += c;
  }
  return escaped.empty() ? "–" : escaped;
}

std::string code(const std::string& text) { return "`" + text + "`"; }

std::string plain_type(const key_info& key) {
  using enum option_kind;
  if (key.tables)
    return "list of tables";
  switch (key.kind) {
    case integer:
    case natural: return "whole number";
    case number: return "number";
    case single: return "32-bit number";
    case boolean: return "boolean";
    case integers: return "list of whole numbers";
    case numbers: return "list of numbers";
    case extents: return "whole number, or two";
    case length: return "whole number, or time";
    case texts: return "list of texts";
    case text: break;
  }
  return "text";
}

std::string row_of(const key_info& key) {
  const auto range = range_text(key);
  return fmt::format("| {} | {} | {} | {} | {} |\n", code(key.name), type_text(key), cell(key.standard),
                     range.empty() ? "–" : range, cell(key.about));
}

}  // namespace

std::string type_text(const key_info& key) {
  const auto unit = unit_of(key.name);
  return unit.empty() ? plain_type(key) : fmt::format("{}, {}", plain_type(key), unit);
}

std::string range_text(const key_info& key) {
  using enum option_kind;
  if (key.tables)
    return "";
  std::vector<std::string> all;
  if (key.kind == boolean)
    all = {code("true"), code("false")};
  else if (key.kind == natural)
    all = {"at least 0"};
  else if (key.kind != text && key.kind != texts && (key.range != field_range{} || !unit_of(key.name).empty()))
    all = {to_text(key.range)};
  for (const auto& choice : key.choices)
    all.push_back(code(choice));
  for (const auto& other : key.also)
    all.push_back(code(other.first));
  if (key.may_be_none && !all.empty())
    all.push_back(code("none"));
  return joined(all, ", ");
}

std::string configure_page() {
  std::string page{page_beginning};
  for (const auto& table : key_tables())
    page += fmt::format("| [{0}](#{0}) | {1} |\n", table.name, cell(table.about));
  for (const auto& table : key_tables()) {
    page += fmt::format("\n## {}\n\n| key | type | default | range | effect |\n| --- | --- | --- | --- | --- |\n",
                        table.name);
    for (const auto& key : known_keys())
      if (std::string_view{key.name}.substr(0, key.name.find_first_of(".[")) == table.name)
        page += row_of(key);
  }
  return page;
}

}  // namespace troupe::cli
