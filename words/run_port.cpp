#include "words/run_port.hpp"

#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_any(const std::vector<std::string>& names, const std::vector<std::string>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& name) { return has(names, name); });
}

constexpr std::string_view caller = "the caller";

}  // namespace

void run_port::name(value_names names) { names_ = std::move(names); }

void run_port::bring(std::vector<component> fed, int64_t rows) {
  expected_ = std::move(fed);
  rows_ = rows;
}

expected<void> run_port::check(const std::string& who, const run_arguments& x) const {
  for (const auto& name : x.fetches)
    if (!has(names_.outputs, name) && !has(names_.observed, name) && !has(names_.metrics, name)) {
      std::vector<std::string> known = names_.outputs;
      known.insert(known.end(), names_.observed.begin(), names_.observed.end());
      known.insert(known.end(), names_.metrics.begin(), names_.metrics.end());
      return fail(errc::invalid_argument, who + " fetches " + quoted(name) + ", and a step of this model has "
                                              + joined(known, ", ", [](const std::string& n) { return quoted(n); }));
    }
  for (const auto& [name, value] : x.feeds) {
    const auto found = std::find_if(expected_.begin(), expected_.end(),
                                    [&name = name](const component& c) { return c.name == name; });
    if (found == expected_.end())
      return fail(
          errc::invalid_argument,
          who + " feeds " + quoted(name) + ", and "
              + (expected_.empty() ? "nothing of this session's input is fed (session_options::feeds)"
                                   : "what is fed in this session is "
                                         + joined(expected_, ", ", [](const component& c) { return quoted(c.name); })));
    const shape wanted = found->dims.prepend(rows_);
    if (value.type() != found->type || value.dims() != wanted)
      return fail(errc::invalid_argument, who + " feeds " + quoted(name) + " as "
                                              + type_text(value.type(), value.dims()) + ", and a batch of it is "
                                              + type_text(found->type, wanted));
  }
  return {};
}

expected<void> run_port::ask(run_arguments by_caller) {
  if (auto right = check(std::string{caller}, by_caller); !right)
    return right;
  asked_ = std::move(by_caller);
  ask_hooks();
  return {};
}

void run_port::ask_hooks() {
  std::lock_guard lock{guard_};
  fed_ = asked_.feeds;
  fed_by_.clear();
  for (const auto& [name, value] : fed_)
    fed_by_[name] = caller;
}

expected<void> run_port::add(const std::string& who, const run_arguments& by_hook) {
  if (auto right = check(who, by_hook); !right)
    return right;
  std::lock_guard lock{guard_};
  for (const auto& [name, value] : by_hook.feeds) {
    const auto [before, is_new] = fed_by_.emplace(name, who);
    if (!is_new)
      return fail(errc::state, quoted(name) + " is fed by " + before->second + " and by " + who + " in one run");
    fed_[name] = value;
  }
  return {};
}

expected<void> run_port::check_complete() const {
  std::lock_guard lock{guard_};
  for (const auto& c : expected_)
    if (!fed_.contains(c.name))
      return fail(errc::invalid_argument, "nobody feeds " + quoted(c.name)
                                              + ", which each run of this session brings (session_options::feeds)");
  return {};
}

bool run_port::fetches_values(const std::vector<std::string>& fetches) const {
  return has_any(names_.outputs, fetches) || has_any(names_.observed, fetches);
}
bool run_port::fetches_observed(const std::vector<std::string>& fetches) const {
  return has_any(names_.observed, fetches);
}

bool run_port::add_values(computed x) {
  std::lock_guard lock{guard_};
  if (values_.size() >= values_max)
    return false;
  values_.push_back(std::move(x));
  return true;
}

std::vector<run_port::computed> run_port::take_values() {
  std::lock_guard lock{guard_};
  return std::exchange(values_, {});
}

std::optional<tensor> run_port::fed(const std::string& component) const {
  std::lock_guard lock{guard_};
  const auto found = fed_.find(component);
  return found == fed_.end() ? std::nullopt : std::optional{found->second};
}

}  // namespace troupe
