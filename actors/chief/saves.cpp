#include "actors/chief/saves.hpp"

namespace troupe {

void saves::start_from(const restored& x) {
  if (!x.found)
    return;
  prefix_ = x.prefix;
  last_commit_ = x.id;
}

void saves::place(int64_t step, bool books_wait) {
  on_way_.insert(step);
  if (books_wait)
    waiting_books_.insert(step);
  else
    waiting_books_.erase(step);
}

std::vector<int64_t> saves::take_books_up_to(int64_t step) {
  const auto end = waiting_books_.upper_bound(step);
  std::vector<int64_t> taken{waiting_books_.begin(), end};
  waiting_books_.erase(waiting_books_.begin(), end);
  return taken;
}

std::optional<committed> saves::take_published(int64_t reached) {
  if (held_.empty() || held_.begin()->first > reached)
    return {};
  auto next = held_.extract(held_.begin()).mapped();
  if (!last_commit_ || last_commit_->step <= next.id.step)
    last_commit_ = next.id;
  prefix_ = next.prefix;
  return next;
}

std::vector<checkpoint_id> saves::held() const {
  std::vector<checkpoint_id> all;
  for (const auto& [step, x] : held_)
    all.push_back(x.id);
  return all;
}

void saves::count_held() {
  for (const auto& [step, x] : held_) {
    last_commit_ = x.id;
    prefix_ = x.prefix;
  }
}

void saves::cancel_above(int64_t step) {
  on_way_.erase(on_way_.upper_bound(step), on_way_.end());
  waiting_books_.erase(waiting_books_.upper_bound(step), waiting_books_.end());
}

void saves::cancel_all() {
  on_way_.clear();
  waiting_books_.clear();
}

bool saves::may_save_now() {
  again_ = again_ || any();
  return !any();
}

bool saves::is_first_skip() { return any() && std::exchange(skipped_for_, oldest()) != oldest(); }

}  // namespace troupe
