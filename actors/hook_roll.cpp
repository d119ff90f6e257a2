#include "actors/hook_roll.hpp"

#include "words/guarded.hpp"
#include "words/job_trace.hpp"
#include "words/need.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <stdexcept>

namespace troupe {

namespace {

bool wants(const std::vector<need>& needs, int64_t step) {
  return std::any_of(needs.begin(), needs.end(), [step](const need& n) { return next_need(step - 1, n) == step; });
}

/// What a hook of a group may ask for.
class group_control final : public job_control {
 public:
  group_control(job_control& job, const hook_roll::retire& stops, const group_hook& of)
    : job_(job), stops_(stops), of_(of) {}
  void save() override { job_.save(); }
  void stop() override { stops_(of_); }
  void scale_rate(double) override {
    throw std::logic_error("a hook of " + quoted(of_.name)
                           + " cannot scale its learning rate alone: use a hook of the search, or a schedule");
  }

 private:
  job_control& job_;
  const hook_roll::retire& stops_;
  const group_hook& of_;
};

std::string named(const std::string& place, const hook& who) { return place + " (" + type_name(typeid(who)) + ")"; }

/// Calls with the control that the hook gets.
template <class Call>
void with_control(const std::optional<group_hook>& of, job_control& job, const hook_roll::retire& stops, Call call) {
  if (!of)
    return call(job);
  group_control own{job, stops, *of};
  call(static_cast<job_control&>(own));
}

}  // namespace

hook_roll::hook_roll(std::vector<std::shared_ptr<hook>> hooks, name_values names, std::shared_ptr<run_port> runs)
  : names_(std::move(names)), runs_(std::move(runs)) {
  for (auto& h : hooks) {
    auto name = named("hooks[" + std::to_string(hooks_.size()) + "]", *h);
    auto& own = hooks_.emplace_back(entry{std::move(h), std::move(name)});
    own.runs = runs_ ? dynamic_cast<run_hook*>(own.who.get()) : nullptr;
  }
}

void hook_roll::replace_groups(const fact& x, std::vector<error>& thrown) {
  for (auto& h : hooks_)
    if (h.of && h.begun && x.news.failure)
      tell(h, "on_abort()", thrown, [&](hook& who) { who.on_abort(*x.news.failure); });
    else if (h.of && h.begun)
      tell(h, "end()", thrown, [&](hook& who) { who.end(h.own(x.at)); });
  std::erase_if(hooks_, [](const entry& h) { return h.of.has_value(); });
  std::map<group_id, size_t> numbers;
  for (const auto& of : *x.of_plan)
    hooks_.push_back(
        {of.who, named("hooks[" + std::to_string(numbers[of.group]++) + "] of " + quoted(of.name), *of.who), of});
}

void hook_roll::begin(int64_t at, std::vector<error>& thrown) {
  began_at_ = at;
  for (auto& h : hooks_)
    if (!h.begun)
      tell(h, "begin()", thrown, [&](hook& who) {
        h.needs = who.begin(h.own(at));
        h.begun = true;
        check_numbers(h, thrown);
        check_values(h, thrown);
      });
}

template <class Call>
void hook_roll::tell(const entry& h, std::string_view what, std::vector<error>& thrown, Call call) const {
  try {
    const auto marked = current_call::enter(calls_, what, h.name);
    call(*h.who);
  } catch (...) {
    thrown.push_back(thrown_by(std::string{what} + " of " + h.name));
  }
}

std::optional<std::string> hook_roll::own_name(const entry& h, const std::string& value) const {
  if (!h.of)
    return value;
  const auto prefix = h.of->name + "/";
  return value.starts_with(prefix) ? std::optional{value.substr(prefix.size())} : std::nullopt;
}

std::vector<std::string> hook_roll::own_names(const entry& h, const std::vector<std::string>& values) const {
  std::vector<std::string> all;
  for (const auto& name : values)
    if (auto own = own_name(h, name))
      all.push_back(std::move(*own));
  return all;
}

/// A need with such a number would never be met, or once where the hook means every so many steps.
void hook_roll::check_numbers(const entry& h, std::vector<error>& wrong) const {
  const auto check = [&](const char* list, size_t i, const char* field, int64_t value, int64_t least) {
    if (value < least)
      wrong.push_back(error{errc::invalid_argument, h.name + " asks for " + list + "[" + std::to_string(i) + "]."
                                                        + field + " = " + std::to_string(value)
                                                        + ", which must be at least " + std::to_string(least)});
  };
  for (size_t i = 0; i < h.needs.steps.size(); ++i) {
    check("steps", i, "first", h.needs.steps[i].first, 0);
    check("steps", i, "every", h.needs.steps[i].every, 0);
  }
  for (size_t i = 0; i < h.needs.traces.size(); ++i) {
    check("traces", i, "first", h.needs.traces[i].first, 0);
    check("traces", i, "steps", h.needs.traces[i].steps, 1);
    check("traces", i, "every", h.needs.traces[i].every, 0);
  }
}

void hook_roll::check_values(const entry& h, std::vector<error>& wrong) const {
  const auto observed = own_names(h, names_.observed), shown = own_names(h, names_.outputs);
  for (const auto& value : h.needs.values) {
    if (std::find(observed.begin(), observed.end(), value) != observed.end()
        || std::find(shown.begin(), shown.end(), value) != shown.end())
      continue;
    const auto known = joined(observed, ", ", [](const std::string& name) { return quoted(name); });
    wrong.push_back(error{errc::invalid_argument, h.name + " asks for the value '" + value
                                                      + "', and the model observes "
                                                      + (known.empty() ? "nothing (graph::observe)" : known)});
  }
}

job_event hook_roll::own_event(const entry& h, job_event e) const {
  e.step = h.own(e.step);
  if (e.max_steps)
    e.max_steps = h.own(*e.max_steps);
  if (e.what == job_event::kind::chosen)
    return e;  // Its values are scores, by candidate.
  const auto own_values = [&](auto& values) {
    std::remove_reference_t<decltype(values)> own;
    for (auto& [name, value] : values)
      if (auto name_of_its_own = own_name(h, name))
        own.emplace(std::move(*name_of_its_own), std::move(value));
    values = std::move(own);
  };
  own_values(e.metrics);
  own_values(e.arrays);
  if (const auto loss = e.metrics.find("loss"); e.what == job_event::kind::progress && loss != e.metrics.end())
    e.loss = loss->second;
  return e;
}

void hook_roll::show_event(const fact& x, job_control& job, const retire& stops, std::vector<error>& thrown) {
  for (const auto& h : hooks_) {
    if (!h.begun)
      continue;
    // An evaluation beside training may be of the iteration before.
    if (h.own(x.news.step) < 0)
      continue;
    const auto own = h.of ? std::optional{own_event(h, x.news)} : std::nullopt;
    with_control(h.of, job, stops, [&](job_control& control) {
      tell(h, "on_event()", thrown, [&](hook& who) { who.on_event(own ? *own : x.news, control); });
    });
  }
}

void hook_roll::show_step(const fact& x, job_control& job, const retire& stops, std::vector<error>& thrown) {
  const auto& values = x.values.values;
  for (auto& h : hooks_) {
    const bool knows_it = x.at == began_at_ && h.shown == x.at;
    if (!h.begun || knows_it || !(wants(h.needs.steps, h.own(x.at)) || (x.last && h.needs.last)))
      continue;
    h.shown = x.at;
    step_facts facts{h.own(x.at), x.news.seconds, {}};
    for (size_t i = 0; i < std::min(names_.outputs.size(), values.size()); ++i)
      if (const auto own = own_name(h, names_.outputs[i]))
        facts.values[*own] = values[i];
    for (size_t i = 0; i < names_.observed.size() && names_.outputs.size() + i < values.size(); ++i) {
      const auto own = own_name(h, names_.observed[i]);
      if (own && std::find(h.needs.values.begin(), h.needs.values.end(), *own) != h.needs.values.end())
        facts.values[*own] = values[names_.outputs.size() + i];
    }
    with_control(h.of, job, stops, [&](job_control& control) {
      tell(h, "on_step()", thrown, [&](hook& who) { who.on_step(facts, control); });
    });
  }
}

void hook_roll::show_loop(const fact& x, job_control& job, std::vector<error>& thrown) {
  for (const auto& h : hooks_)
    if (h.begun && !h.of && h.needs.loops)
      tell(h, "on_loop()", thrown, [&](hook& who) { who.on_loop(x.of_loop, job); });
}

void hook_roll::show_trace(const fact& x, job_control& job, std::vector<error>& thrown) {
  std::vector<recorded_lane> lanes;
  for (const auto& of : x.recorded)
    lanes.push_back({of.who, of.recorded});
  const auto trace = trace_of(x.from, x.at, lanes);
  for (const auto& h : hooks_)
    if (h.begun && !h.of && std::any_of(h.needs.traces.begin(), h.needs.traces.end(), [&x](const trace_need& n) {
          return begins_at(n, x.from);
        }))
      tell(h, "on_trace()", thrown, [&](hook& who) { who.on_trace(trace, job); });
}

void hook_roll::show_created(const fact& x, std::vector<error>& thrown) {
  for (const auto& h : hooks_)
    if (h.begun && h.runs)
      tell(h, "after_create()", thrown, [&](hook&) { h.runs->after_create(x.at); });
}

/// A hook that fails leaves the hooks behind it unasked: there will be no run.
void hook_roll::ask_of_run(const fact& x, job_control& job, std::vector<error>& thrown) {
  runs_->ask_hooks();
  const run_context run{x.from, x.at, runs_->asked()};
  for (auto& h : hooks_) {
    if (!h.begun || !h.runs || !thrown.empty())
      continue;
    h.fetches.clear();
    tell(h, "before_run()", thrown, [&](hook&) {
      auto wanted = h.runs->before_run(run, job);
      if (auto right = runs_->add(h.name, wanted); !right)
        thrown.push_back(std::move(right.error()));
      h.fetches = std::move(wanted.fetches);
    });
  }
  if (auto complete = thrown.empty() ? runs_->check_complete() : expected<void>{}; !complete)
    thrown.push_back(std::move(complete.error()));
}

void hook_roll::show_run(const fact& x, job_control& job, std::vector<error>& thrown) {
  std::map<std::string, tensor> all;
  for (const auto& [name, value] : x.news.metrics)
    all[name] = tensor::scalar(value);
  const auto& values = x.values.values;
  for (size_t i = 0; i < values.size(); ++i)
    if (i < names_.outputs.size())
      all[names_.outputs[i]] = values[i];
    else if (i - names_.outputs.size() < names_.observed.size())
      all[names_.observed[i - names_.outputs.size()]] = values[i];
  for (const auto& h : hooks_) {
    if (!h.begun || !h.runs || !thrown.empty())
      continue;
    run_facts run{x.from, x.at, {}};
    for (const auto& name : h.fetches)
      if (const auto found = all.find(name); found != all.end())
        run.values.insert(*found);
    tell(h, "after_run()", thrown, [&](hook&) { h.runs->after_run(run, job); });
  }
}

std::vector<error> hook_roll::show(const fact& x, job_control& job, const retire& stops) {
  std::vector<error> thrown;
  switch (x.what) {
    case fact::begin_at:
      if (x.of_plan)
        replace_groups(x, thrown);
      begin(x.at, thrown);
      break;
    case fact::event: show_event(x, job, stops, thrown); break;
    case fact::step: show_step(x, job, stops, thrown); break;
    case fact::loop: show_loop(x, job, thrown); break;
    case fact::trace: show_trace(x, job, thrown); break;
    case fact::saving: break;  // Only for listeners.
    case fact::created: show_created(x, thrown); break;
    case fact::before_run: ask_of_run(x, job, thrown); break;
    case fact::after_run: show_run(x, job, thrown); break;
    case fact::end_at:
      show_event(x, job, stops, thrown);
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
        tell(h, "end()", thrown, [&](hook& who) { who.end(h.own(x.at)); });
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
    for (auto n : h.needs.steps) {
      if (h.of && __builtin_add_overflow(n.first, h.of->begins_at, &n.first))
        n.first = INT64_MAX;
      all.push_back(n);
    }
  return all;
}

bool hook_roll::observes() const {
  return std::any_of(hooks_.begin(), hooks_.end(), [this](const entry& h) {
    const auto observed = own_names(h, names_.observed);
    return std::find_first_of(observed.begin(), observed.end(), h.needs.values.begin(), h.needs.values.end())
           != observed.end();
  });
}

bool hook_roll::loops() const {
  return std::any_of(hooks_.begin(), hooks_.end(), [](const entry& h) { return !h.of && h.needs.loops; });
}

bool hook_roll::runs() const {
  return std::any_of(hooks_.begin(), hooks_.end(), [](const entry& h) { return h.runs != nullptr; });
}

fetch_kinds hook_roll::fetches() const {
  fetch_kinds all = 0;
  for (const auto& h : hooks_)
    if (h.runs && runs_->fetches_values(h.fetches))
      all |= runs_->fetches_observed(h.fetches) ? fetch_values | fetch_observed : fetch_values;
  return all;
}

std::vector<trace_need> hook_roll::traces() const {
  std::vector<trace_need> all;
  for (const auto& h : hooks_)
    if (!h.of)
      all.insert(all.end(), h.needs.traces.begin(), h.needs.traces.end());
  return all;
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
