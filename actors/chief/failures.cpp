#include "actors/chief/failures.hpp"

#include "words/severity.hpp"

#include <algorithm>

namespace troupe {

error root_cause(std::span<const error> causes) {
  // Every error of severity `end` or higher is a cause in itself.
  const auto rank = [](const error& e) { return std::min(severity_of(e.category), severity::end); };
  const auto root = std::max_element(causes.begin(), causes.end(),
                                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  error chosen = *root;
  for (auto e = causes.begin(); e != causes.end(); ++e)
    if (e != root) {
      const auto note = to_text(*e);
      if (std::find(chosen.notes.begin(), chosen.notes.end(), note) == chosen.notes.end())
        chosen.notes.push_back(note);
    }
  return chosen;
}

void failure_log::add(error cause, cure how, std::optional<group_id> of) {
  if (std::find(causes_.begin(), causes_.end(), cause) != causes_.end())
    return;
  if (aborted_) {
    causes_.back().notes.push_back(to_text(cause));
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

void failure_log::note(std::string text) { notes_.push_back(std::move(text)); }

bool failure_log::curable() const {
  bool any = false;
  for (size_t i = 0; i < causes_.size(); ++i) {
    const auto category = causes_[i].category;
    const bool cured = cures_[i] == cure::by_chance
                       || (cures_[i] == cure::by_category
                           && (category == errc::aborted || category == errc::unavailable));
    any = any || cured;
    // A cancelled action is the consequence of another cause.
    if (!cured && (cures_[i] == cure::none || category != errc::cancelled))
      return false;
  }
  return any;
}

bool failure_log::has_kill() const { return std::find(cures_.begin(), cures_.end(), cure::by_chance) != cures_.end(); }

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

response response_to(role who, trouble what) noexcept {
  return row_of(who).to(what).value_or(response::settle_and_fail);
}

}  // namespace troupe
