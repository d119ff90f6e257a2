#include "cli/configuration/config_file.hpp"

#include <CLI/CLI.hpp>
#include <toml++/toml.h>

#include <fmt/format.h>

#include <algorithm>

namespace troupe::cli {

namespace {

void add_value(const std::string& key, const toml::node& node, const std::string& origin,
               std::vector<assignment>& into) {
  using enum value_kind;
  assignment a{key, "", origin, other};
  if (const auto* s = node.as_string())
    a.value = s->get(), a.written = text;
  else if (const auto* i = node.as_integer())
    a.value = fmt::format("{}", i->get()), a.written = integer;
  else if (const auto* f = node.as_floating_point())
    a.value = fmt::format("{:#}", f->get()), a.written = number;  // 10.0 is quoted as 10.0.
  else if (const auto* b = node.as_boolean())
    a.value = b->get() ? "true" : "false", a.written = boolean;
  else if (const auto* list = node.as_array();
           list && std::all_of(list->begin(), list->end(), [](const toml::node& n) { return n.is_integer(); })) {
    for (const auto& n : *list)
      a.value += fmt::format("{}{}", a.value.empty() ? "" : ",", n.as_integer()->get());
    a.written = integers;
  } else if (list && std::all_of(list->begin(), list->end(), [](const toml::node& n) { return n.is_number(); })) {
    for (const auto& n : *list)
      a.value += fmt::format("{}{}", a.value.empty() ? "" : ",", *n.value<double>());
    a.written = numbers;
  } else if (list && std::all_of(list->begin(), list->end(), [](const toml::node& n) {
               return n.is_string() && n.as_string()->get().find(',') == std::string::npos;
             })) {
    for (const auto& n : *list)
      a.value += fmt::format("{}{}", a.value.empty() ? "" : ",", n.as_string()->get());
    a.written = texts;
  } else {
    a.value = list ? "a list of other things" : "a date or time";
  }
  into.push_back(std::move(a));
}

void add_table(const std::string& prefix, const toml::table& table, const std::string& name,
               std::vector<assignment>& into);

/// The first key of the tables in a list: "type" for "model.layers".
std::string first_key_of(const std::string& list) {
  const auto beginning = without_number(list) + "[].";
  for (const auto& known : known_keys())
    if (known.name.starts_with(beginning))
      return known.name.substr(beginning.size());
  return list == "evaluate" ? "name" : "type";
}

/// An assignment that no key accepts: an empty table is reported by its first key, as it is likelier to be a mistake
/// than a wish for what is there by default.
assignment nothing(const std::string& key, const std::string& origin) {
  return {key, "an empty table", origin, value_kind::other};
}

/// Adds the tables of a list such as [[model.layers]], each under its number: "model.layers[0].". For an empty table it
/// adds the first key with a value that no key accepts, so that the table is reported.
void add_tables(const std::string& key, const toml::array& list, const std::string& name,
                std::vector<assignment>& into) {
  for (size_t i = 0; i < list.size(); ++i) {
    const auto& table = *list[i].as_table();
    const auto each = fmt::format("{}[{}]", key, i);
    if (table.empty())
      into.push_back(nothing(fmt::format("{}.{}", each, first_key_of(key)),
                             fmt::format("{}:{}", name, list[i].source().begin.line)));
    add_table(each + ".", table, name, into);
  }
}

/// Whether a table says something without any key: an optimizer in a list, and what is off if it is not there.
bool does_presence_count(const std::string& table) {
  return table.find('[') != std::string::npos || table == "keep_best" || table == "reduce_on_plateau";
}

void add_table(const std::string& prefix, const toml::table& table, const std::string& name,
               std::vector<assignment>& into) {
  for (const auto& [key, node] : table) {
    const std::string full = prefix + std::string{key.str()};
    const std::string origin = fmt::format("{}:{}", name, key.source().begin.line);
    const auto* inner = node.as_table();
    const auto keys = inner && inner->empty() ? keys_of_table(without_number(full)) : std::vector<std::string>{};
    if (inner && inner->empty() && keys.empty())
      into.push_back({full, "an empty table", origin, value_kind::table});
    else if (inner && inner->empty() && does_presence_count(full))
      into.push_back(nothing(full + keys.front().substr(without_number(full).size()), origin));
    else if (inner)
      add_table(full + ".", *inner, name, into);
    else if (const auto* list = node.as_array(); list && !list->empty() && list->is_array_of_tables())
      add_tables(full, *list, name, into);
    else
      add_value(full, node, origin, into);
  }
}

constexpr int depth_max = 32;                   // Nesting limit for lists and tables; ours have 3.
constexpr size_t bytes_max = size_t{16} << 20;  // A device or a wrong file may have no end.

/// The position after the string that begins at `at`. An unterminated string ends at the newline.
size_t end_of_string(std::string_view text, size_t at) {
  const char quote = text[at];
  const auto long_quote = text.substr(at, 3);
  if (long_quote == "\"\"\"" || long_quote == "'''") {
    const size_t end = text.find(long_quote, at + 3);
    return end == std::string_view::npos ? text.size() : end + 3;
  }
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at)
    if (quote == '"' && text[at] == '\\')
      ++at;
  return std::min(at + 1, text.size());
}

/// The first line in which a key has more than `depth_max` parts, or in which more than `depth_max` lists and tables
/// are open. Tables are built, read and destroyed recursively, and the parser itself bounds only part of this. Invalid
/// TOML is left to the parser.
std::optional<int64_t> too_deep_in_line(std::string_view text) {
  int64_t line = 1;
  int open = 0, dots = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      const size_t end = end_of_string(text, at);
      line += std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                         text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
      at = end;
      continue;
    }
    if (c == '#')
      at = std::min(text.find('\n', at), text.size());
    else
      ++at;
    open += c == '[' || c == '{' ? 1 : (c == ']' || c == '}') && open > 0 ? -1 : 0;
    dots = c == '.' ? dots + 1 : c == '\n' || c == '=' || c == ',' || c == '[' || c == '{' ? 0 : dots;
    if (open > depth_max || dots >= depth_max)
      return line;
    line += c == '\n';
  }
  return {};
}

/// Reads to the end, since a pipe has no size.
expected<std::string> read_all(std::istream& from, const std::string& name) {
  std::string text;
  for (char part[1 << 14]; from.good();) {
    from.read(part, sizeof part);
    text.append(part, static_cast<size_t>(from.gcount()));
    if (text.size() > bytes_max)
      return fail(errc::invalid_argument, fmt::format("the configuration {} has more than {} bytes", name, bytes_max));
  }
  if (from.bad())
    return fail(errc::not_found, fmt::format("the configuration {} cannot be read", name));
  return text;
}

/// Passes the file that CLI11 opens to `parse_config`, in the place of CLI11's own formats.
class toml_config final : public CLI::Config {
 public:
  explicit toml_config(const std::string& name) : name_(name) {}
  std::string to_config(const CLI::App*, bool, bool, std::string) const override { return {}; }
  std::vector<CLI::ConfigItem> from_config(std::istream& text) const override {
    read_ = parse_config(text, name_);
    return {};
  }
  expected<std::vector<assignment>> take() { return std::move(read_); }

 private:
  std::string name_;
  mutable expected<std::vector<assignment>> read_;
};

}  // namespace

expected<std::vector<assignment>> parse_config(std::istream& from, const std::string& name) {
  const auto text = read_all(from, name);
  if (!text)
    return fail(text.error());
  if (const auto line = too_deep_in_line(*text))
    return fail(errc::invalid_argument,
                fmt::format("{}:{}: nests deeper than {} lists and tables", name, *line, depth_max));
  try {
    const toml::table table = toml::parse(*text, name);
    std::vector<assignment> found;
    add_table("", table, name, found);
    for (const auto& a : found)
      if (a.value.find('\0') != std::string::npos)
        return fail(errc::invalid_argument,
                    fmt::format("{}: {} has a NUL character, where a file's name would end", a.origin, a.key));
    // TOML sorts tables by name, but messages should follow the file's order.
    const auto line = [](const assignment& a) { return std::stoll(a.origin.substr(a.origin.rfind(':') + 1)); };
    std::stable_sort(found.begin(), found.end(),
                     [&](const assignment& a, const assignment& b) { return line(a) < line(b); });
    return found;
  } catch (const toml::parse_error& e) {
    return fail(errc::invalid_argument,
                fmt::format("{}:{}:{}: {}", name, e.source().begin.line, e.source().begin.column, e.description()));
  }
}

expected<std::vector<assignment>> read_config(const std::string& path) {
  toml_config reader{path};
  try {
    reader.from_file(path);
  } catch (const CLI::FileError&) {
    return fail(errc::not_found, fmt::format("the configuration {} cannot be read", path));
  } catch (const std::ios_base::failure&) {
    return fail(errc::not_found, fmt::format("the configuration {} cannot be read", path));
  }
  return reader.take();
}

}  // namespace troupe::cli
