#include "actors/chief/failures.hpp"

#include "words/severity.hpp"

#include <algorithm>
#include <array>

namespace troupe {

error root_cause(std::span<const error> causes) {
  const auto rank = [](const error& e) { return std::min(severity_of(e.category), severity::end); };  // From `end` on, each is a cause in itself.
  const auto root = std::max_element(causes.begin(), causes.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  error chosen = *root;
  for (auto e = causes.begin(); e != causes.end(); ++e)
    if (e != root) {
      const auto note = to_string(*e);
      if (std::find(chosen.notes.begin(), chosen.notes.end(), note) == chosen.notes.end())
        chosen.notes.push_back(note);
    }
  return chosen;
}

void failure_log::add(error cause, cure how, std::optional<group_id> of) {
  if (std::find(causes_.begin(), causes_.end(), cause) != causes_.end())
    return;
  if (aborted_) {
    causes_.back().notes.push_back(to_string(cause));
    return;
  }
  causes_.push_back(std::move(cause));
  cures_.push_back(how);
  groups_.push_back(of);
}

void failure_log::abort(error cause) {
  aborted_ = causes_.empty();
  causes_.push_back(std::move(cause));
  cures_.push_back(cure::none);
  groups_.emplace_back();
}

bool failure_log::curable() const {
  bool any = false;
  for (size_t i = 0; i < causes_.size(); ++i) {
    const auto category = causes_[i].category;
    const bool cured = cures_[i] == cure::by_chance || (cures_[i] == cure::by_category && (category == errc::aborted || category == errc::unavailable));
    any = any || cured;
    // What was cancelled ended as a consequence of another cause.
    if (!cured && (cures_[i] == cure::none || category != errc::cancelled))
      return false;
  }
  return any;
}

bool failure_log::has_kill() const {
  return std::find(cures_.begin(), cures_.end(), cure::by_chance) != cures_.end();
}

std::optional<group_id> failure_log::only_group() const {
  std::optional<group_id> only;
  for (size_t i = 0; i < causes_.size(); ++i) {
    if (!groups_[i] && causes_[i].category == errc::cancelled)
      continue;
    if (!groups_[i] || (only && only != groups_[i]))
      return std::nullopt;
    only = groups_[i];
  }
  return only;
}

error failure_log::root() const {
  auto root = aborted_ ? causes_.back() : root_cause(causes_);
  root.notes.insert(root.notes.end(), notes_.begin(), notes_.end());
  return root;
}

std::string_view to_string(trouble t) noexcept {
  switch (t) {
    case trouble::dies: return "dies";
    case trouble::hangs: return "hangs";
    case trouble::throws: return "throws";
  }
  return "unknown";
}

std::string_view to_string(response r) noexcept {
  switch (r) {
    case response::save_and_fail: return "save_and_fail";
    case response::replace_and_fail: return "replace_and_fail";
    case response::settle_and_fail: return "settle_and_fail";
    case response::recover_or_fail: return "recover_or_fail";
    case response::by_policy: return "by_policy";
  }
  return "unknown";
}

std::span<const failure_rule> failure_rules() noexcept {
  using enum response;
  static constexpr std::array rules{
    failure_rule{role::infeed, trouble::dies, recover_or_fail},
    failure_rule{role::infeed, trouble::hangs, settle_and_fail},
    failure_rule{role::infeed, trouble::throws, recover_or_fail},
    failure_rule{role::replica, trouble::dies, recover_or_fail},
    failure_rule{role::replica, trouble::hangs, settle_and_fail},
    failure_rule{role::replica, trouble::throws, recover_or_fail},
    failure_rule{role::reducer, trouble::dies, recover_or_fail},
    failure_rule{role::reducer, trouble::hangs, settle_and_fail},
    failure_rule{role::outfeed, trouble::dies, save_and_fail},
    failure_rule{role::outfeed, trouble::hangs, settle_and_fail},
    failure_rule{role::checkpoint_writer, trouble::dies, replace_and_fail},
    failure_rule{role::checkpoint_writer, trouble::hangs, settle_and_fail},
    failure_rule{role::checkpoint_writer, trouble::throws, recover_or_fail},
    failure_rule{role::summary_writer, trouble::dies, save_and_fail},
    failure_rule{role::summary_writer, trouble::hangs, settle_and_fail},
    failure_rule{role::summary_writer, trouble::throws, save_and_fail},
    failure_rule{role::eval_summary_writer, trouble::dies, save_and_fail},
    failure_rule{role::eval_summary_writer, trouble::hangs, save_and_fail},
    failure_rule{role::eval_summary_writer, trouble::throws, save_and_fail},
    failure_rule{role::evaluator, trouble::dies, by_policy},
    failure_rule{role::evaluator, trouble::hangs, by_policy},
    failure_rule{role::evaluator, trouble::throws, by_policy},
    failure_rule{role::callbacks, trouble::dies, save_and_fail},
    failure_rule{role::callbacks, trouble::hangs, save_and_fail},
    failure_rule{role::callbacks, trouble::throws, save_and_fail},
  };
  return rules;
}

response response_to(role who, trouble what) noexcept {
  const auto rules = failure_rules();
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const failure_rule& r) { return r.who == who && r.what == what; });
  return rule == rules.end() ? response::settle_and_fail : rule->then;
}

bool is_log(role who) noexcept {
  return who == role::summary_writer || who == role::eval_summary_writer;
}

}  // namespace troupe
