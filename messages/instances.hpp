// Explicit instances of the templates with which CAF holds, copies, prints and serialises a message, compiled once
// (*_instances.cpp). Otherwise each source that sends a message would instantiate them again, which is most of the
// compile time of an actor. A message that is not listed works as well.
#pragma once

#include "messages/agents.hpp"
#include "messages/block.hpp"
#include "messages/control.hpp"
#include "messages/evaluation.hpp"
#include "messages/following.hpp"
#include "messages/reduction.hpp"
#include "messages/report.hpp"
#include "messages/session.hpp"
#include "messages/snapshot.hpp"
#include "messages/status.hpp"
#include "messages/summary.hpp"

#include <caf/detail/tuple_vals.hpp>
#include <caf/detail/type_erased_value_impl.hpp>
#include <caf/mailbox_element.hpp>

// The sections of fwd.hpp, each sorted.
#define TROUPE_EACH_OF_DATA(f)                                                                                     \
  f(block) f(end_of_data) f(gradient_part) f(gradient_sum) f(record) f(snapshot_part) f(state_part) f(step_report) \
      f(stream_end)
#define TROUPE_EACH_CONTROL(f)                                                                                         \
  f(abandon) f(all_applied) f(answered) f(applied) f(apply_rule) f(begin) f(cancel) f(connect_parts) f(connect_reader) \
      f(connect_records) f(connect_reducer) f(connect_reports) f(connect_source) f(deadline) f(end_nodes)              \
          f(evaluate_at) f(fact) f(finish_log) f(flush) f(halt) f(hooks_ended) f(hooks_ready) f(leave) f(name_missing) \
              f(name_newest) f(name_values) f(note) f(prepare_plan) f(probe) f(proceed) f(pull) f(read_variables)      \
                  f(record_credit) f(request) f(restore) f(retire) f(rewind) f(run) f(run_until) f(scale_rate)         \
                      f(set_loop) f(settle) f(show_state) f(stand_in) f(start_nodes) f(stop) f(unlease) f(wake)
#define TROUPE_EACH_FACT(f)                                                                                        \
  f(batches_evaluated) f(commit_seen) f(committed) f(departed) f(evaluated) f(export_at) f(exported) f(failure)    \
      f(flushed) f(gone) f(halted) f(input_failed) f(input_warned) f(late_properties) f(late_properties_kept)      \
          f(log_replaced) f(newest) f(prepared) f(progress) f(released) f(restored) f(rule_applied) f(save_failed) \
              f(standing) f(started) f(state_shown) f(state_taken) f(variables_read) f(verdict_seen)

// The templates for a message by itself, for one in a mailbox, and for a value known only by its type's number.
#define TROUPE_INSTANCES(which, message)                                                         \
  which template class caf::detail::tuple_vals_impl<caf::detail::message_data, troupe::message>; \
  which template class caf::detail::tuple_vals<troupe::message>;                                 \
  which template class caf::detail::tuple_vals_impl<caf::type_erased_tuple, troupe::message>;    \
  which template class caf::detail::type_erased_value_impl<troupe::message>;

#define TROUPE_DECLARE_INSTANCES(message) TROUPE_INSTANCES(extern, message)
#define TROUPE_DEFINE_INSTANCES(message) TROUPE_INSTANCES(, message)

TROUPE_EACH_OF_DATA(TROUPE_DECLARE_INSTANCES)
TROUPE_EACH_CONTROL(TROUPE_DECLARE_INSTANCES)
TROUPE_EACH_FACT(TROUPE_DECLARE_INSTANCES)
