// Checks the settings of a warm start.
#include "words/name_expression.hpp"

#include <troupe/options/warm_start_fields.hpp>

namespace troupe {

expected<name_expression> name_expression::make(const std::string& text) {
  try {
    return name_expression{std::regex{text, std::regex::ECMAScript}};
  } catch (const std::regex_error& e) {
    return fail(errc::invalid_argument, "'" + text + "' is no regular expression: " + e.what());
  }
}

bool name_expression::matches(std::string_view name) const {
  try {
    return std::regex_search(name.begin(), name.end(), compiled_, std::regex_constants::match_continuous);
  } catch (const std::regex_error&) {  // The search has exhausted its stack or its steps.
    return false;
  }
}

namespace {

tl::unexpected<error> refuse(const std::string& what) { return fail(errc::invalid_argument, what); }

expected<void> validate(const vocab_info& info, const std::string& label) {
  if (auto right = check_fields(info, label + "."); !right)
    return right;
  for (const auto& [which, path, words] :
       {std::tuple{"new", &info.new_vocab, &info.new_words}, std::tuple{"old", &info.old_vocab, &info.old_words}})
    if (path->empty() == words->empty())
      return refuse(label + " needs " + which + "_vocab or " + which + "_words, and not both");
  if (info.backup_initializer.what == initializer::kind::values)
    return refuse(label + ".backup_initializer cannot be values of its own: it draws the rows of new words");
  return {};
}

}  // namespace

expected<void> validate(const warm_start_settings& settings) {
  if (settings.ckpt_to_initialize_from.empty())
    return refuse("warm_start.ckpt_to_initialize_from must name a checkpoint, not ''");
  if (auto right = check_fields(settings, "warm_start."); !right)
    return right;
  if (settings.vars_to_warm_start)
    if (const auto made = name_expression::make(*settings.vars_to_warm_start); !made)
      return refuse("warm_start.vars_to_warm_start: " + made.error().message);
  for (const auto& text : settings.global_vars_to_warm_start)
    if (const auto made = name_expression::make(text); !made)
      return refuse("warm_start.global_vars_to_warm_start: " + made.error().message);
  for (const auto& [name, previous] : settings.var_name_to_prev_var_name)
    if (previous.empty())
      return refuse("warm_start.var_name_to_prev_var_name['" + name + "'] must not be ''");
  for (const auto& [name, info] : settings.var_name_to_vocab_info)
    if (auto right = validate(info, "warm_start.var_name_to_vocab_info['" + name + "']"); !right)
      return right;
  return {};
}

}  // namespace troupe
