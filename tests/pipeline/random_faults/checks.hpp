// Rules that every story must keep, whatever troubles it has.
#pragma once

#include "pipeline/random_faults/run.hpp"

namespace troupe::test::random_faults {

/// A broken rule, and a description of how the story breaks it.
struct finding {
  std::string rule;
  std::string text;
};

/// Checks all rules. Empty: the story breaks none.
std::vector<finding> judge(const story& s);

// The rules, one subject each. What breaks a rule is added to `to`.
/// The job ends in time and leaves no actor.
void check_end(const recipe& r, const observation& o, std::vector<finding>& to);
/// Mailboxes and timers are bounded.
void check_bounds(const recipe& r, const observation& o, std::vector<finding>& to);
/// Credit is kept, no engine is handed on, and no failure that the outfeed knew is swallowed.
void check_inside(const recipe& r, const observation& o, std::vector<finding>& to);
/// Facts come in step order, each once.
void check_order(const recipe& r, const observation& o, std::vector<finding>& to);
/// The saving listener is called before and after each save.
void check_listener(const recipe& r, const observation& o, std::vector<finding>& to);
/// Host calls are made for the steps that are due, each once, in order and with its rows.
void check_calls(const recipe& r, const observation& o, std::vector<finding>& to);
/// No process goes on from a state below which a call was not made.
void check_all_calls(const story& s, std::vector<finding>& to);
/// The job's result fits its troubles.
void check_cause(const recipe& r, const observation& o, std::vector<finding>& to);
/// The checkpoints on the disk are right.
void check_state(const story& s, std::vector<finding>& to);
/// The exported models are right.
void check_exports(const story& s, std::vector<finding>& to);
/// The curve in the event files has no gap.
void check_curve(const story& s, std::vector<finding>& to);

/// Whether a trouble of this kind happened.
bool came(const observation& o, trouble_kind what);
bool killed(const observation& o, std::string_view node);

}  // namespace troupe::test::random_faults
