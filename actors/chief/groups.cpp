#include "actors/chief/groups.hpp"

#include "messages/snapshot.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// The category that a text of `to_text(error)` begins with; `aborted` where it names none.
errc category_in(std::string_view text) {
  for (int i = static_cast<int>(errc::invalid_argument); i <= static_cast<int>(errc::resource_exhausted); ++i)
    if (const auto category = static_cast<errc>(i); text.starts_with(std::string{to_string(category)} + ":"))
      return category;
  return errc::aborted;
}

}  // namespace

const plan_group* groups::find(group_id id) const {
  const auto p = std::find_if(policies_.begin(), policies_.end(), [id](const plan_group& g) { return g.id == id; });
  return p == policies_.end() ? nullptr : &*p;
}

bool groups::leaves_for(group_id id, const error& cause) const {
  const auto* policy = find(id);
  return policy && policy->leaves != leaves_on::never && !has_left(id) && cause.category == errc::nan_loss;
}

bool groups::may_drop(group_id id) const {
  const auto* policy = find(id);
  if (!policy || policy->leaves != leaves_on::numbers_and_death || is_dropped(id))
    return false;
  const auto followers = followers_of(id);
  return std::any_of(policies_.begin(), policies_.end(), [&](const plan_group& g) {
    return g.id != id && !has_left(g.id) && !is_dropped(g.id)
           && std::find(followers.begin(), followers.end(), g.id) == followers.end();
  });
}

std::vector<group_id> groups::followers_of(group_id id) const {
  std::vector<group_id> all{id};
  for (size_t i = 0; i < all.size(); ++i)
    for (const auto& g : policies_)
      if (!has_left(g.id) && std::find(g.falls_with.begin(), g.falls_with.end(), all[i]) != g.falls_with.end()
          && std::find(all.begin(), all.end(), g.id) == all.end())
        all.push_back(g.id);
  all.erase(all.begin());
  return all;
}

std::string groups::why_it_falls(group_id id) const {
  const auto& with = find(id)->falls_with;
  const auto names = joined(with, ", ", [this](group_id other) { return quoted(find(other)->name); });
  return to_text(error{errc::cancelled,
                       (with.size() == 1 ? "it falls with group " : "it falls with the first of the groups ") + names});
}

std::vector<group_id> groups::leave_at(int64_t step, group_id id, const error& cause) {
  // The group's part of state `step` was sent before the step that failed.
  std::vector<group_id> all{id};
  for (const auto follower : followers_of(id)) {
    left_.emplace(follower, departure{step, step + 1, why_it_falls(follower)});
    all.push_back(follower);
  }
  left_.insert_or_assign(id, departure{step, step + 1, to_text(cause)});
  return all;
}

void groups::drop(group_id id, const error& cause) {
  for (const auto follower : followers_of(id))
    dropped_.emplace(follower, why_it_falls(follower));
  dropped_.emplace(id, to_text(cause));
}

void groups::restore(int64_t step, const checkpoint_books& books) {
  left_.clear();
  for (const auto& p : policies_)
    if (const auto found = books.left.find(p.name); found != books.left.end()) {
      const auto& [left_at, why] = found->second;
      left_.emplace(p.id, departure{left_at, left_at < step ? left_at + 1 : step, why});
    }
  for (const auto& [id, why] : dropped_)
    left_.emplace(id, departure{step, step, why});
}

checkpoint_books groups::book_of(group_id id) const {
  const auto& d = left_.at(id);
  return {.left = {{find(id)->name, {d.step, d.why}}}};
}

error groups::first_cause() const {
  const departure* first = nullptr;
  const plan_group* whose = nullptr;
  const auto rank = [](const departure& d) { return std::pair{d.step, category_in(d.why) == errc::cancelled}; };
  for (const auto& p : policies_)
    if (const auto d = left_.find(p.id); d != left_.end() && (!first || rank(d->second) < rank(*first))) {
      first = &d->second;
      whose = &p;
    }
  return {category_in(first->why),
          "every group has left the job, group " + quoted(whose->name) + " as the first: " + first->why,
          {},
          {},
          first->step};
}

std::string groups::text_of(group_id id) const {
  const auto& d = left_.at(id);
  return "group " + quoted(find(id)->name) + " left at step " + std::to_string(d.step) + ": " + d.why;
}

std::string groups::text() const {
  return joined(left_, "; ", [this](const auto& entry) { return text_of(entry.first); });
}

}  // namespace troupe
