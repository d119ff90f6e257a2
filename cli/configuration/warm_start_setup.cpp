#include "cli/configuration/warm_start_setup.hpp"

#include <fmt/format.h>

namespace troupe::cli {

namespace {

constexpr std::string_view names = "warm_start.names", vocabularies = "warm_start.vocabularies";

/// Reads table `i` of a list. Its first key, `variable`, is required.
template <class Options>
expected<std::string> read_table(const settings& given, std::string_view list, int64_t i, Options& into) {
  const auto at = fmt::format("{}[{}].", list, i);
  given.read_fields(at, into);
  const auto variable = given.text(at + "variable");
  if (!variable) {
    const auto keys = given.keys_beginning(at);
    return fail(errc::invalid_argument, fmt::format("{}{}variable is missing: which variable is meant?",
                                                    keys.empty() ? "" : given.origin(keys.front()), at));
  }
  return *variable;
}

expected<void> twice(const settings& given, std::string_view list, int64_t i, const std::string& variable) {
  const auto key = fmt::format("{}[{}].variable", list, i);
  return fail(errc::invalid_argument, fmt::format("{}{}: '{}' is given twice", given.origin(key), key, variable));
}

expected<void> read_names(const settings& given, warm_start_settings& into) {
  for (int64_t i = 0; i < given.size_of_list(names); ++i) {
    renamed_variable row;
    const auto variable = read_table(given, names, i, row);
    if (!variable)
      return fail(variable.error());
    if (row.previous.empty())
      return fail(errc::invalid_argument,
                  fmt::format("{}{}[{}].previous is missing: what does the checkpoint call '{}'?",
                              given.origin(fmt::format("{}[{}].variable", names, i)), names, i, *variable));
    if (!into.var_name_to_prev_var_name.emplace(*variable, row.previous).second)
      return twice(given, names, i, *variable);
  }
  return {};
}

expected<void> read_vocabularies(const settings& given, warm_start_settings& into) {
  for (int64_t i = 0; i < given.size_of_list(vocabularies); ++i) {
    vocab_info info;
    const auto variable = read_table(given, vocabularies, i, info);
    if (!variable)
      return fail(variable.error());
    if (!into.var_name_to_vocab_info.emplace(*variable, std::move(info)).second)
      return twice(given, vocabularies, i, *variable);
  }
  return {};
}

}  // namespace

expected<std::optional<warm_start_settings>> make_warm_start(const settings& given) {
  const std::string table = "warm_start.", from = "warm_start.ckpt_to_initialize_from";
  const auto keys = given.keys_beginning(table);
  if (keys.empty())
    return std::nullopt;
  if (!given.has(from))
    return fail(errc::invalid_argument,
                fmt::format("{}{} is missing: it names the checkpoint that variables are taken from",
                            given.origin(keys.front()), from));
  warm_start_settings made;
  given.read_fields(table, made);
  return read_names(given, made)
      .and_then([&] { return read_vocabularies(given, made); })
      .and_then([&] {
        return validate(made).map_error([&](error e) {
          e.message = given.origin(from) + e.message;
          return e;
        });
      })
      .map([&] { return std::optional{std::move(made)}; });
}

}  // namespace troupe::cli
