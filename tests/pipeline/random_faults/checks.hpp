// Properties of every story, whatever went wrong in it.
#pragma once

#include "pipeline/random_faults/run.hpp"

namespace troupe::test::random_faults {

/// A broken rule, and how it is broken.
struct finding {
  std::string rule;
  std::string text;
};

/// Empty when all is well.
std::vector<finding> judge(const story& s);

// One subject each.
void check_end(const recipe& r, const observation& o, std::vector<finding>& to);     ///< It ends in time and leaves no actor.
void check_bounds(const recipe& r, const observation& o, std::vector<finding>& to);  ///< Mailboxes and timers.
void check_inside(const recipe& r, const observation& o, std::vector<finding>& to);  ///< Credit, engines, failures that are known.
void check_order(const recipe& r, const observation& o, std::vector<finding>& to);   ///< Facts in step order, once each.
void check_listener(const recipe& r, const observation& o, std::vector<finding>& to);  ///< Calls of the saving listener.
void check_cause(const recipe& r, const observation& o, std::vector<finding>& to);   ///< The result fits the troubles.
void check_state(const story& s, std::vector<finding>& to);                          ///< The checkpoints on the disk.
void check_exports(const story& s, std::vector<finding>& to);                        ///< The exported models.
void check_curve(const story& s, std::vector<finding>& to);                          ///< The event files beside them.

/// Whether a trouble of this kind happened.
bool came(const observation& o, trouble_kind what);
bool killed(const observation& o, std::string_view node);

}  // namespace troupe::test::random_faults
