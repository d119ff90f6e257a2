#include "cli/configuration/head_setup.hpp"

#include "cli/configuration/has_field.hpp"
#include "cli/configuration/joined.hpp"
#include "cli/configuration/model_fields.hpp"
#include "cli/configuration/model_setup.hpp"

#include <fmt/format.h>

namespace troupe::cli {

namespace {

template <class F, class... Heads>
void each_head(const std::variant<Heads...>&, F f) {
  (f(Heads{}), ...);
}

/// Where a head stands: alone at "head.", or in the list "head.heads", where it has the keys of a named head too.
enum class head_place : uint8_t { alone, in_list };

/// A key at `at`, "head.", that belongs to other heads alone is an error.
template <class Head>
expected<void> check_keys(const settings& given, const std::string& at, const Head& own, head_place place) {
  const std::string type = at + "type";
  for (const auto& key : given.keys_beginning(at)) {
    const std::string field = key.substr(at.size());
    if (key == type || field.find('[') != std::string::npos || has_field(own, field)
        || (place == head_place::in_list && has_field(named_head{}, field))
        || *given.precedence_of(key) < *given.precedence_of(type))
      continue;
    std::vector<std::string> owners;
    each_head(head_choice{}, [&](const auto& other) {
      if (has_field(other, field))
        owners.emplace_back(name_of(other));
    });
    return fail(errc::invalid_argument, fmt::format("{}{} belongs to {}, and {} is {}", given.origin(key), key,
                                                    joined(owners, ", "), type, name_of(own)));
  }
  return {};
}

/// Makes the head at `at`, whose type is one of the variant's.
template <class... Heads>
expected<head> head_at(const settings& given, const std::string& at, head_place place,
                       const std::variant<Heads...>& types) {
  const auto type = given.text(at + "type");
  if (!type)
    return fail(errc::invalid_argument,
                fmt::format("{}type is missing: it must be {}", at, fits(*find_key(at + "type"))));
  expected<head> made = head{};
  each_head(types, [&](auto options) {
    if (name_of(options) != *type)
      return;
    given.read_fields(at, options);
    made = check_keys(given, at, options, place).map([&] { return static_cast<head>(options); });
  });
  if (made && made->wrong)
    return fail(errc::invalid_argument,
                fmt::format("{}{}: {}", given.origin(at + "type"), at.substr(0, at.size() - 1), made->wrong->message));
  return made;
}

expected<head> make_multi_head(const settings& given) {
  multi_head options;
  const int64_t size = given.size_of_list("head.heads");
  if (size > static_cast<int64_t>(listed_max))
    return too_many(given, "head.heads", "heads", size);
  for (int64_t i = 0; i < size; ++i) {
    const auto at = fmt::format("head.heads[{}].", i);
    named_head one;
    given.read_fields(at, one);
    auto made = head_at(given, at, head_place::in_list, single_head{});
    if (!made)
      return fail(made.error());
    one.head = std::move(*made);
    options.heads.push_back(std::move(one));
  }
  if (auto right = check_keys(given, "head.", options, head_place::alone); !right)
    return fail(right.error());
  const auto made = static_cast<head>(options);
  if (made.wrong)
    return fail(errc::invalid_argument, fmt::format("{}head: {}", given.origin("head.type"), made.wrong->message));
  return made;
}

}  // namespace

expected<head> make_head(const settings& given) {
  const std::string several{option_fields<multi_head>::name};
  const auto type = given.text("head.type");
  if (type == several)
    return make_multi_head(given);
  const auto listed = given.keys_of_list("head.heads");
  if (type && !listed.empty() && *given.precedence_of(listed.front()) >= *given.precedence_of("head.type"))
    return fail(errc::invalid_argument, fmt::format("{}{} belongs to {}, and head.type is {}",
                                                    given.origin(listed.front()), listed.front(), several, *type));
  return head_at(given, "head.", head_place::alone, head_choice{});
}

}  // namespace troupe::cli
