// What the caller of a session asks for between two runs (docs/actors.md).
#pragma once

#include "messages/fwd.hpp"
#include "messages/inspect.hpp"

namespace troupe {

/// What of a step is fetched: flags.
using fetch_kinds = uint8_t;
enum fetch_kind : fetch_kinds {
  fetch_values = 1,    ///< The outputs of the step, such as its loss.
  fetch_observed = 2,  ///< With fetch_values: what the model observes in it.
};

/// From the handle of a session, whose caller holds the job between runs: what it asks for next, once the one before
/// has ended. `number` counts these messages from 1; one that was received already is dropped.
struct run_until {
  enum kind : uint8_t {
    steps = 1,  ///< The gate moves by `steps` steps from where the job stands.
    save = 2,   ///< The state where the job stands is saved; the run ends once that is durable.
    renew = 3,  ///< Work beside the job has failed with `cause`: the job goes back to its newest commit.
    /// Within a call, with its number: that work has begun anew, as the chief has asked.
    begun_anew = 4,
  };
  uint64_t number = 0;
  uint8_t what = steps;
  int64_t count = 1;        ///< steps: how many; at least 1.
  fetch_kinds fetches = 0;  ///< steps: of the last one.
  bool tells_hooks = true;  ///< steps: before_run and after_run are called.
  bool repeats = true;      ///< steps: made again if the job is restored to where they began, or before.
  bool first = false;       ///< Not repeated: recoveries before it do not end it, as its caller has seen no state yet.
  error cause = {};         ///< renew.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, run_until& x) {
  return f(caf::meta::type_name("run_until"), x.number, x.what, x.count, x.fetches, x.tells_hooks, x.repeats, x.first,
           x.cause);
}

/// From the handle of a session to the chief, which passes it on to a replica: send copies of these variables and
/// slots, all of one state. `number` tells requests apart; one without names takes that request back.
struct read_variables {
  int32_t attempt = 0;  ///< Of the chief's; the handle knows none.
  uint64_t number = 0;
  std::vector<std::string> names;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, read_variables& x) {
  return f(caf::meta::type_name("read_variables"), x.attempt, x.number, x.names);
}

/// The answer, sent as soon as the replica stands between two steps: state `step`, and the values in the order of the
/// names; or why there are none.
struct variables_read {
  int32_t attempt = 0;
  uint64_t number = 0;
  int64_t step = 0;
  bool ok = true;
  std::vector<tensor> values = {};
  error cause = {};
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, variables_read& x) {
  return f(caf::meta::type_name("variables_read"), x.attempt, x.number, x.step, x.ok, x.values, x.cause);
}

}  // namespace troupe
