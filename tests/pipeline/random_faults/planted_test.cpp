// Each check finds the violation that is planted for it: a correct story is changed in one respect and checked again.
#include "actors/chief/decisions.hpp"
#include "pipeline/random_faults/checks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

namespace troupe::test::random_faults {

namespace {

using kind = job_event::kind;

/// A job that is stopped and resumed, with everything that the checks look at.
const story& a_story() {
  static const story s = [] {
    recipe r;
    r.seed = 3;
    r.replicas = 2;
    r.max_steps = 40;
    r.save_steps = 4;
    r.summary_steps = 4;
    r.log_steps = 2;
    r.evaluates = r.hooks = true;
    r.watch_every = 2;
    r.gate_every = 8;
    r.hook_holds.saved = r.hook_observes = true;
    r.disturbed.push_back(
        {.schedule = 5, .troubles = {{.what = trouble_kind::stop, .when = {moment::progress, 9, 0}}}});
    return play(r);
  }();
  return s;
}

/// The rules that the story breaks after `spoil` has changed it.
std::vector<std::string> broken(const std::function<void(story&)>& spoil) {
  story s = a_story();
  spoil(s);
  std::vector<std::string> rules;
  for (const auto& f : judge(s))
    if (rules.empty() || rules.back() != f.rule)
      rules.push_back(f.rule);
  return rules;
}

bool breaks(const std::string& rule, const std::function<void(story&)>& spoil) {
  const auto rules = broken(spoil);
  return std::find(rules.begin(), rules.end(), rule) != rules.end();
}

/// The last event of kind `what` in the undisturbed run.
std::vector<job_event>::iterator last_of(story& s, kind what) {
  auto& events = s.undisturbed->events;
  return std::find_if(events.rbegin(), events.rend(), [&](const auto& e) { return e.what == what; }).base() - 1;
}

}  // namespace

TEST_CASE("random faults: a story that went well breaks no rule, and was stopped on its way") {
  CHECK(broken([](story&) {}).empty());
  REQUIRE(a_story().disturbed.size() == 1);
  REQUIRE(a_story().undisturbed);
  REQUIRE(a_story().disturbed[0].result.value().has_value());
  CHECK(a_story().disturbed[0].result->value().stopped);
}

TEST_CASE("random faults: an end that is late, missing or leaves somebody is found") {
  CHECK(breaks("it ends", [](story& s) { s.undisturbed->endless = true; }));
  CHECK(breaks("it ends", [](story& s) { s.undisturbed->stuck = true; }));
  CHECK(breaks("a timer finds nothing to do", [](story& s) {
    s.undisturbed->events.push_back({.what = kind::warning, .text = std::string{forgotten_text}});
  }));
  CHECK(breaks("it ends in time", [](story& s) { s.disturbed[0].ended += std::chrono::seconds{201}; }));
  CHECK(breaks("nobody is left", [](story& s) { s.undisturbed->left = {"replica/0"}; }));
}

TEST_CASE("random faults: a full mailbox and a timer too many are found") {
  CHECK(breaks("mailboxes are bounded", [](story& s) { s.undisturbed->gauge.fullest_mailboxes["reducer"] = 100; }));
  CHECK(breaks("mailboxes are bounded", [](story& s) { s.undisturbed->gauge.fullest_mailboxes["chief"] = 1000; }));
  CHECK(breaks("a timer for each actor", [](story& s) { s.undisturbed->gauge.timers_beyond_actors = 1; }));
}

TEST_CASE(
    "random faults: a batch beyond its credit, an engine that is handed on and a failure that was known of are found") {
  CHECK(breaks("credit is kept", [](story& s) { s.undisturbed->inside.over_credit = "replica/0 has too many"; }));
  CHECK(breaks("no engine is handed on",
               [](story& s) { s.undisturbed->inside.engine_twice = "replica/0 has another's"; }));
  CHECK(breaks("no failure is swallowed", [](story& s) {
    s.disturbed[0].inside.known_failures[1] = "nan_loss: the loss is not finite";
    s.disturbed[0].events.push_back({.what = kind::recovering, .step = 9, .attempt = 1});
  }));
}

TEST_CASE("random faults: a budget that a commit beyond the failed step did not renew is found") {
  const auto fails_at_last = [](story& s, int64_t failed_first) {
    s.of.recovers = 1;
    auto& o = s.disturbed[0];
    const happening death{{.what = trouble_kind::kill, .node = "replica/0"}, 1, {}};
    o.happened = {death, death};
    o.events.insert(o.events.begin() + 1, {.what = kind::recovering, .step = failed_first, .attempt = 1});
    o.result = fail(error{errc::aborted, "replica/0 ended: it was killed", {}, "replica/0"});
  };
  CHECK(breaks("what can be recovered is", [&](story& s) { fails_at_last(s, 3); }));
  // No commit lies beyond step 40.
  CHECK_FALSE(breaks("what can be recovered is", [&](story& s) { fails_at_last(s, 40); }));
}

TEST_CASE("random faults: another cause, a failure without one and one that is swallowed are found") {
  CHECK(breaks("the cause is one that came",
               [](story& s) { s.disturbed[0].result = fail(errc::deadline_exceeded, "chief waited too long"); }));
  CHECK(breaks("an undisturbed run ends well",
               [](story& s) { s.undisturbed->result = fail(errc::aborted, "infeed/0 ended"); }));
  CHECK(breaks("no failure is swallowed", [](story& s) {
    s.disturbed[0].happened.push_back({{.what = trouble_kind::kill, .node = "replica/0"}, 1, {}});
    s.disturbed[0].ended_turn = 1000;
  }));
  CHECK(breaks("what can be recovered is", [](story& s) {
    s.of.recovers = 1;
    s.disturbed[0].happened = {{{.what = trouble_kind::kill, .node = "replica/0"}, 1, {}}};
    s.disturbed[0].result = fail(error{errc::aborted, "replica/0 ended: it was killed", {}, "replica/0"});
  }));
  CHECK(breaks("it stops when it is asked to", [](story& s) { s.disturbed[0].happened.clear(); }));
}

TEST_CASE("random faults: a state that differs in one number, is of another step or is not there is found") {
  CHECK(breaks("the state is right", [](story& s) {
    auto& t = s.undisturbed->newest->tensors.front();
    t.value = tensor::zeros(t.value.type(), t.value.dims());
  }));
  CHECK(breaks("the state is right", [](story& s) { s.undisturbed->newest->blobs.begin()->second += " "; }));
  CHECK(breaks("the state is right", [](story& s) { s.undisturbed->newest.reset(); }));
  CHECK(breaks("it ends where it should", [](story& s) { (*s.undisturbed->result)->global_step = 39; }));
  CHECK(breaks("what was told to be saved is there", [](story& s) { s.disturbed[0].newest->id.step = 0; }));
  CHECK(breaks("what nobody lists is deleted",
               [](story& s) { s.undisturbed->unlisted = {"model.ckpt-4.manifest.json"}; }));
  CHECK(breaks("a curve has no gap", [](story& s) { s.undisturbed->curve.erase(s.undisturbed->curve.begin() + 1); }));
}

TEST_CASE("random faults: facts that are left out, told twice or out of order are found") {
  const std::string rule = "facts in order";
  CHECK(breaks(rule, [](story& s) { s.undisturbed->events.erase(last_of(s, kind::progress)); }));
  CHECK(breaks(rule, [](story& s) { s.undisturbed->events.push_back(*last_of(s, kind::finished)); }));
  CHECK(breaks(rule, [](story& s) { s.undisturbed->events.pop_back(); }));
  CHECK(breaks(rule, [](story& s) { s.undisturbed->events.erase(s.undisturbed->events.begin()); }));
  CHECK(breaks(rule, [](story& s) { std::iter_swap(last_of(s, kind::progress), last_of(s, kind::saved)); }));
  // Only saved states are evaluated.
  CHECK(breaks(rule, [](story& s) { s.undisturbed->events.erase(last_of(s, kind::saved)); }));
  CHECK(breaks(rule, [](story& s) { last_of(s, kind::saved)->seconds += 1000; }));
  const auto look = [](story& s) {  // The last step that the hook has seen.
    auto& calls = s.undisturbed->calls;
    return std::find_if(calls.rbegin(), calls.rend(), [](const auto& c) { return c.where == hook_place::at; }).base()
           - 1;
  };
  CHECK(breaks(rule, [&](story& s) { s.undisturbed->calls.erase(look(s)); }));
  CHECK(breaks(rule, [&](story& s) { s.undisturbed->calls.insert(look(s), *look(s)); }));
  CHECK(breaks(rule, [&](story& s) { look(s)->step += 1; }));
  CHECK(breaks(rule, [&](story& s) { look(s)->observed = false; }));
  CHECK(breaks(rule, [](story& s) { s.undisturbed->calls.pop_back(); }));
  CHECK(breaks(rule, [](story& s) { s.undisturbed->calls.erase(s.undisturbed->calls.begin()); }));
}

TEST_CASE(
    "random faults: training that runs past a fact that a hook holds is found, and an end beyond the one on which it "
    "stopped") {
  const std::string rule = "nothing runs past what a hook holds";
  CHECK(breaks(rule, [](story& s) {
    auto& calls = s.undisturbed->calls;
    const auto told = std::find_if(calls.begin(), calls.end(), [](const auto& c) {
      return c.where == hook_place::on_event && c.what == kind::saved;
    });
    REQUIRE(told != calls.end());
    calls.insert(told, {hook_place::on_event, told->step + 1, kind::progress});
  }));
  CHECK(breaks(rule, [](story& s) { s.disturbed[0].stopped_on = s.disturbed[0].result->value().global_step - 1; }));
}

}  // namespace troupe::test::random_faults
