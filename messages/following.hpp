// Messages about a model directory that another process writes to.
#pragma once

#include "messages/control.hpp"

#include <troupe/checkpoint_id.hpp>

namespace troupe {

/// From the checkpoint watcher of an evaluator's process: what the directory of the job says. Sent first when the
/// watcher has looked for the first time, then after each change, and each minute, so that a file system that does not
/// return is noticed.
struct commit_seen {
  bool found = false;  ///< Whether there is a checkpoint; without one, the next three are empty.
  checkpoint_id id;    ///< Of the newest one.
  std::string prefix;
  std::map<std::string, std::string> properties;  ///< Its books.
  bool owned = false;                             ///< Whether a process owns the directory.
  std::string warning;                            ///< Why the directory cannot be read; empty: it can.
  bool operator==(const commit_seen&) const = default;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, commit_seen& x) {
  return f(caf::meta::type_name("commit_seen"), x.found, x.id, x.prefix, x.properties, x.owned, x.warning);
}

/// From the checkpoint watcher of a chief: what the evaluator in another process has judged (`judged.json`). Sent after
/// each change.
struct verdict_seen {
  bool has_best = false, has_end = false;
  checkpoint_id best;  ///< The best checkpoint so far, by `value` of its metric.
  double value = 0;
  checkpoint_id ends_at;  ///< The checkpoint whose evaluation ends the job, by a rule, given as text, and why.
  std::string rule, why;
  std::string ignored;  ///< What the file says and is not followed; empty: nothing.
  bool operator==(const verdict_seen&) const = default;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, verdict_seen& x) {
  return f(caf::meta::type_name("verdict_seen"), x.has_best, x.has_end, x.best, x.value, x.ends_at, x.rule, x.why,
           x.ignored);
}

}  // namespace troupe
