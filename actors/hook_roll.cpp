#include "actors/hook_roll.hpp"

#include "words/guarded.hpp"
#include "words/need.hpp"

#include <algorithm>

namespace troupe {

namespace {

bool wants(const std::vector<need>& needs, int64_t step) {
  return std::any_of(needs.begin(), needs.end(), [step](const need& n) { return next_need(step - 1, n) == step; });
}

}  // namespace

hook_roll::hook_roll(std::vector<std::shared_ptr<hook>> hooks, name_values names) : names_(std::move(names)) {
  for (auto& h : hooks)
    hooks_.push_back({std::move(h), false, {}});
}

template <class Call>
void hook_roll::tell(const entry& h, std::string_view what, std::vector<error>& thrown, Call call) const {
  try {
    call(*h.who);
  } catch (...) {
    thrown.push_back(thrown_by(std::string{what} + " of " + name_of(h)));
  }
}

std::string hook_roll::name_of(const entry& h) const {
  const auto& who = *h.who;
  return "hooks[" + std::to_string(&h - hooks_.data()) + "] (" + type_name(typeid(who)) + ")";
}

void hook_roll::check_values(const entry& h, std::vector<error>& wrong) const {
  for (const auto& value : h.needs.values) {
    if (std::find(names_.observed.begin(), names_.observed.end(), value) != names_.observed.end())
      continue;
    std::string known;
    for (const auto& name : names_.observed)
      known.append(known.empty() ? "'" : ", '").append(name).append("'");
    wrong.push_back(error{errc::invalid_argument, name_of(h) + " asks for the value '" + value
                                                      + "', and the model observes "
                                                      + (known.empty() ? "nothing (graph::observe)" : known)});
  }
}

void hook_roll::show_step(const fact& x, job_control& job, std::vector<error>& thrown) {
  const auto& values = x.values.values;
  for (const auto& h : hooks_) {
    if (!h.begun || !(wants(h.needs.steps, x.at) || (x.last && h.needs.last)))
      continue;
    step_facts facts{x.at, x.news.seconds, {}};
    for (size_t i = 0; i < std::min(names_.outputs.size(), values.size()); ++i)
      facts.values[names_.outputs[i]] = values[i];
    for (size_t i = 0; i < names_.observed.size() && names_.outputs.size() + i < values.size(); ++i)
      if (std::find(h.needs.values.begin(), h.needs.values.end(), names_.observed[i]) != h.needs.values.end())
        facts.values[names_.observed[i]] = values[names_.outputs.size() + i];
    tell(h, "on_step()", thrown, [&](hook& who) { who.on_step(facts, job); });
  }
}

std::vector<error> hook_roll::show(const fact& x, job_control& job) {
  std::vector<error> thrown;
  switch (x.what) {
    case fact::begin_at:
      for (auto& h : hooks_)
        tell(h, "begin()", thrown, [&](hook& who) {
          h.needs = who.begin(x.at);
          h.begun = true;
          check_values(h, thrown);
        });
      break;
    case fact::event:
      for (const auto& h : hooks_)
        if (h.begun)
          tell(h, "on_event()", thrown, [&](hook& who) { who.on_event(x.news, job); });
      break;
    case fact::step: show_step(x, job, thrown); break;
    case fact::saving: break;  // Only for listeners.
    case fact::end_at:
      for (const auto& h : hooks_)
        if (h.begun)
          tell(h, "on_event()", thrown, [&](hook& who) { who.on_event(x.news, job); });
      end(x, thrown);
      break;
  }
  return thrown;
}

/// A hook that throws in the event of the end fails the job before `end` is called.
void hook_roll::end(const fact& x, std::vector<error>& thrown) {
  auto failure = x.news.failure;
  if (!failure && !thrown.empty()) {
    failure = thrown.front();
    failure->step = x.at;
  }
  if (!failure) {
    for (const auto& h : hooks_)
      if (h.begun)
        tell(h, "end()", thrown, [&](hook& who) { who.end(x.at); });
    return;
  }
  // Hooks end in reverse order of their beginning.
  for (auto h = hooks_.rbegin(); h != hooks_.rend(); ++h)
    if (h->begun)
      tell(*h, "on_abort()", thrown, [&](hook& who) { who.on_abort(*failure); });
}

std::vector<need> hook_roll::steps() const {
  std::vector<need> all;
  for (const auto& h : hooks_)
    all.insert(all.end(), h.needs.steps.begin(), h.needs.steps.end());
  return all;
}

bool hook_roll::observes() const {
  return std::any_of(hooks_.begin(), hooks_.end(), [](const entry& h) { return !h.needs.values.empty(); });
}

bool hook_roll::last() const {
  return std::any_of(hooks_.begin(), hooks_.end(), [](const entry& h) { return h.needs.last; });
}

held_facts hook_roll::holds() const {
  held_facts any;
  for (const auto& h : hooks_) {
    any.saved = any.saved || h.needs.holds.saved;
    any.evaluated = any.evaluated || h.needs.holds.evaluated;
  }
  return any;
}

}  // namespace troupe
