#include "cli/config_file.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

namespace troupe::cli {

namespace {

void add_value(const std::string& key, const toml::node& node, const std::string& origin, std::vector<assignment>& into) {
  using enum value_kind;
  assignment a{key, "", origin, other};
  if (const auto* s = node.as_string())
    a.value = s->get(), a.written = text;
  else if (const auto* i = node.as_integer())
    a.value = fmt::format("{}", i->get()), a.written = integer;
  else if (const auto* f = node.as_floating_point())
    a.value = fmt::format("{}", f->get()), a.written = number;
  else if (const auto* b = node.as_boolean())
    a.value = b->get() ? "true" : "false", a.written = boolean;
  else if (const auto* list = node.as_array(); list && std::all_of(list->begin(), list->end(), [](const toml::node& n) { return n.is_integer(); })) {
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

void add_table(const std::string& prefix, const toml::table& table, const std::string& name, std::vector<assignment>& into);

/// The first key of a list of tables: "type" of "model.layers".
std::string first_key_of(const std::string& list) {
  for (const auto& known : known_keys())
    if (known.name.starts_with(list + "[]."))
      return known.name.substr(list.size() + 3);
  return "type";
}

/// Tables in a list, [[model.layers]], each under its number: "model.layers[0].". An empty one is seen by the key that it lacks.
void add_tables(const std::string& key, const toml::array& list, const std::string& name, std::vector<assignment>& into) {
  for (size_t i = 0; i < list.size(); ++i) {
    const auto& table = *list[i].as_table();
    const auto each = fmt::format("{}[{}]", key, i);
    if (table.empty())
      into.push_back({fmt::format("{}.{}", each, first_key_of(key)), "nothing", fmt::format("{}:{}", name, list[i].source().begin.line), value_kind::other});
    add_table(each + ".", table, name, into);
  }
}

void add_table(const std::string& prefix, const toml::table& table, const std::string& name, std::vector<assignment>& into) {
  for (const auto& [key, node] : table) {
    const std::string full = prefix + std::string{key.str()};
    const std::string origin = fmt::format("{}:{}", name, key.source().begin.line);
    if (const auto* inner = node.as_table(); inner && inner->empty() && keys_of_table(full).empty())
      into.push_back({full, "an empty table", origin, value_kind::table});
    else if (inner)
      add_table(full + ".", *inner, name, into);
    else if (const auto* list = node.as_array(); list && !list->empty() && list->is_array_of_tables())
      add_tables(full, *list, name, into);
    else
      add_value(full, node, origin, into);
  }
}

/// CLI11 opens the file, as it does for its own formats.
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

expected<std::vector<assignment>> parse_config(std::istream& text, const std::string& name) {
  try {
    const toml::table table = toml::parse(text, name);
    if (text.bad())
      return fail(errc::not_found, fmt::format("the configuration {} cannot be read", name));
    std::vector<assignment> found;
    add_table("", table, name, found);
    // TOML's tables are sorted by name; messages follow the file.
    const auto line = [](const assignment& a) { return std::stoll(a.origin.substr(a.origin.rfind(':') + 1)); };
    std::stable_sort(found.begin(), found.end(), [&](const assignment& a, const assignment& b) { return line(a) < line(b); });
    return found;
  } catch (const toml::parse_error& e) {
    return fail(errc::invalid_argument, fmt::format("{}:{}:{}: {}", name, e.source().begin.line, e.source().begin.column, e.description()));
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
