#include "cli/configuration/kept_settings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace troupe::cli {

namespace {

constexpr std::string_view own_directory = "run.model_dir";

std::string working_directory() {
  std::string path(4096, '\0');
  return ::getcwd(path.data(), path.size()) ? std::string{path.c_str()} : std::string{};
}

/// Makes a path absolute: "data" in "/home/me" becomes "/home/me/data". Links and ".." are not resolved.
std::string absolute(std::string_view path, const std::string& from) {
  if (path.starts_with('/') || from.empty())
    return std::string{path};
  while (path.starts_with("./"))
    path.remove_prefix(2);
  return fmt::format("{}/{}", from == "/" ? "" : from, path);
}

std::map<std::string, std::string> with_absolute_paths(std::map<std::string, std::string> all,
                                                       const std::string& from) {
  all.erase(std::string{own_directory});
  for (auto& [key, value] : all)
    if (is_path(key) && value != "none")
      value = absolute(value, from);
  return all;
}

error with_way_on(error e, const std::string& directory) {
  e.notes.push_back(
      fmt::format("--config FILE names the configuration: troupe ... --config FILE --model-dir {}", directory));
  return e;
}

}  // namespace

bool is_path(std::string_view key) {
  static constexpr std::string_view endings[] = {".data", ".images", ".labels", ".file", ".files",
                                                 ".path", ".from",   "_file",   "_path", "_dir"};
  const auto* known = find_key(key);
  return known && known->kind == option_kind::text && known->choices.empty()
         && std::any_of(std::begin(endings), std::end(endings),
                        [key](std::string_view ending) { return key.ends_with(ending); });
}

run_record record_of(const settings& given, std::vector<std::string> arguments) {
  const auto here = working_directory();
  return {.command = std::move(arguments),
          .directory = here,
          .settings = with_absolute_paths(given.given(), here),
          .resolved = with_absolute_paths(given.resolved(), here)};
}

hyperparameters hyperparameters_of(const settings& given) {
  static constexpr std::string_view tables[] = {"model.", "head.", "optimizer.", "search."},
                                    others[] = {"input.batch_size", "input.shuffle", "run.seed", "run.replicas"};
  hyperparameters values;
  for (const auto& [key, text] : given.resolved()) {
    const auto* known = find_key(key);
    const bool asked = std::any_of(std::begin(tables), std::end(tables),
                                   [&](std::string_view t) { return key.starts_with(t); })
                       || std::find(std::begin(others), std::end(others), key) != std::end(others);
    if (!known || !asked || text == "none" || known->kind == option_kind::texts)
      continue;
    double number = 0;
    const bool is_number = known->kind == option_kind::integer || known->kind == option_kind::natural
                           || known->kind == option_kind::number || known->kind == option_kind::single;
    if (is_number && parse_option(text, number))
      values[key] = number;
    else if (known->kind == option_kind::boolean)
      values[key] = text == "true";
    else
      values[key] = text;
  }
  return values;
}

expected<std::vector<assignment>> kept_settings(const std::string& directory) {
  auto record = read_run_record(directory);
  if (!record)
    return fail(with_way_on(std::move(record.error()), directory));
  const std::string origin = fmt::format("{}/{}", directory, run_record_file);
  std::vector<assignment> all;
  for (const auto& [key, value] : record->settings)
    all.push_back({key, value, origin});
  return all;
}

}  // namespace troupe::cli
