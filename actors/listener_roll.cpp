#include "actors/listener_roll.hpp"

#include "words/guarded.hpp"

#include <algorithm>

namespace troupe {

listener_roll::listener_roll(const std::vector<std::shared_ptr<saving_listener>>& listeners) {
  for (const auto& l : listeners)
    if (std::find(listeners_.begin(), listeners_.end(), l) == listeners_.end())
      listeners_.push_back(l);
}

template <class Call>
void listener_roll::tell_all(std::string_view what, std::vector<error>& thrown, Call call) const {
  for (size_t i = 0; i < listeners_.size(); ++i) {
    auto& who = *listeners_[i];
    const auto name = "saving_listeners[" + std::to_string(i) + "] (" + type_name(typeid(who)) + ")";
    try {
      const auto marked = current_call::enter(calls_, what, name);
      call(who);
    } catch (...) {
      thrown.push_back(thrown_by(std::string{what} + " of " + name));
    }
  }
}

std::vector<error> listener_roll::show(const fact& x, job_control& job) {
  std::vector<error> thrown;
  if (x.what == fact::begin_at && !std::exchange(begun_, true)) {
    first_step_ = x.at;
    tell_all("begin()", thrown, [&](saving_listener& l) { l.begin(x.at); });
  } else if (x.what == fact::saving) {
    tell_all("before_save()", thrown, [&](saving_listener& l) { l.before_save(x.at); });
  } else if (x.what == fact::event && x.news.what == job_event::kind::saved) {
    bool stops = false;
    tell_all("after_save()", thrown, [&](saving_listener& l) {
      stops = l.after_save(x.at, x.news.text) == saving_listener::answer::stop || stops;
    });
    if (stops && x.at > first_step_)
      job.stop();
  } else if (x.what == fact::end_at && !x.news.failure) {
    tell_all("end()", thrown, [&](saving_listener& l) { l.end(x.at); });
  }
  return thrown;
}

}  // namespace troupe
