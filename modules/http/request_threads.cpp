#include "modules/http/request_threads.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace troupe {

request_threads::request_threads(size_t most, size_t waiting_max, work serve)
  : most_(most), waiting_max_(waiting_max), serve_(std::move(serve)) {
  threads_.reserve(most_);
}

request_threads::added request_threads::add(std::unique_ptr<connection>& c) {
  const std::lock_guard held{guard_};
  if (ended_)
    return added::no_thread;
  if (waiting_.size() >= waiting_max_ + free_)
    return added::full;
  if (waiting_.size() >= free_ && threads_.size() < most_ && !add_thread() && threads_.empty())
    return added::no_thread;
  waiting_.push_back(std::move(c));
  show_whether_wanted();
  changed_.notify_one();
  return added::taken;
}

bool request_threads::is_wanted() {
  const std::lock_guard held{guard_};
  if (!waits_for_more())
    return false;
  ++promised_;
  show_whether_wanted();
  return true;
}

void request_threads::show_whether_wanted() {
  if (const bool wants = waits_for_more(); std::exchange(shown_, wants) != wants)
    wants ? wanted_.set() : wanted_.clear();
}

bool request_threads::add_thread() {
  try {
    threads_.emplace_back([this] { serve_all(); });
    ++free_;
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void request_threads::serve_all() {
  std::unique_lock held{guard_};
  for (;;) {
    changed_.wait(held, [this] { return !waiting_.empty() || ended_; });
    if (waiting_.empty())
      return;
    auto taken = std::move(waiting_.front());
    waiting_.pop_front();
    --free_;
    show_whether_wanted();
    held.unlock();
    serve_(std::move(taken));
    held.lock();
    ++free_;
    promised_ -= std::min<size_t>(promised_, 1);
    show_whether_wanted();
  }
}

void request_threads::end() {
  {
    const std::lock_guard held{guard_};
    ended_ = true;
    show_whether_wanted();
  }
  changed_.notify_all();
  for (auto& t : threads_)
    t.join();
  threads_.clear();
}

}  // namespace troupe
