// Host calls as the nodes of a job know them: which are due, what is given to them, and the call itself.
#pragma once

#include "words/step_values.hpp"

#include <troupe/host_call.hpp>

#include <memory>
#include <span>

namespace troupe {

/// A host call of a model in one mode.
struct host_call_form {
  std::string name;
  std::vector<std::string> tensors;  ///< Their names, in the order in which an entry has them.
  int64_t every = 1;
  host_call_function function;
};
using host_call_forms = std::vector<host_call_form>;

/// A set of calls, by index.
using call_set = uint32_t;
static_assert(host_calls_max < 32);

/// The calls that are due in the step that has number `step_of_loop` in its loop.
call_set calls_due(std::span<const host_call_form> calls, int64_t step_of_loop);

/// The tensors of one step for all calls that are due, call after call; those of other calls are left out.
using call_entry = std::vector<tensor>;

/// Runs the calls in `due` one after the other. `entries`: one for each replica, in their order, all of one form; they
/// are joined on axis 0. `step`: what the functions are told. Returns the summaries that they recorded; an error if a
/// function throws, which names the call and the step, or if memory is short.
expected<std::vector<summary_value>> run_calls(std::span<const host_call_form> calls, call_set due, mode what,
                                               int64_t step, std::span<const call_entry> entries);

}  // namespace troupe
