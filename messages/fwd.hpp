// All messages between actors of Troupe, and their only type-ID block. A type that is missing here serialises to an
// empty message without an error; tests/messages sends every type through the wire format.
#pragma once

#include <caf/type_id.hpp>

namespace troupe {

// -- data: sent on credit ----------------------------------------------------------
struct block;
struct end_of_data;
struct gradient_part;
struct gradient_sum;
struct step_report;
struct snapshot_part;
struct state_part;
struct record;
struct stream_end;

// -- control -------------------------------------------------------------------------
struct abandon;
struct all_applied;
struct answered;
struct applied;
struct apply_rule;
struct begin;
struct cancel;
struct connect_parts;
struct connect_reader;
struct connect_records;
struct connect_reducer;
struct connect_reports;
struct connect_source;
struct deadline;
struct end_nodes;
struct evaluate_at;
struct fact;
struct finish_log;
struct flush;
struct halt;
struct hooks_ended;
struct hooks_ready;
struct leave;
struct name_missing;
struct name_newest;
struct name_values;
struct note;
struct prepare_plan;
struct probe;
struct proceed;
struct pull;
struct request;
struct restore;
struct retire;
struct rewind;
struct read_variables;
struct record_credit;
struct run;
struct run_until;
struct scale_rate;
struct set_loop;
struct settle;
struct show_state;
struct stand_in;
struct start_nodes;
struct stop;
struct unlease;
struct wake;

// -- facts ---------------------------------------------------------------------------
struct batches_evaluated;
struct commit_seen;
struct committed;
struct departed;
struct evaluated;
struct export_at;
struct exported;
struct failure;
struct flushed;
struct gone;
struct halted;
struct input_failed;
struct input_warned;
struct log_replaced;
struct newest;
struct prepared;
struct progress;
struct released;
struct restored;
struct rule_applied;
struct save_failed;
struct late_properties;
struct late_properties_kept;
struct standing;
struct started;
struct state_shown;
struct state_taken;
struct variables_read;
struct verdict_seen;

}  // namespace troupe

// A host program's own block usually starts at first_custom_type_id; the offset avoids a collision.
CAF_BEGIN_TYPE_ID_BLOCK(troupe, caf::first_custom_type_id + 2000)

CAF_ADD_TYPE_ID(troupe, (troupe::abandon))
CAF_ADD_TYPE_ID(troupe, (troupe::all_applied))
CAF_ADD_TYPE_ID(troupe, (troupe::answered))
CAF_ADD_TYPE_ID(troupe, (troupe::applied))
CAF_ADD_TYPE_ID(troupe, (troupe::apply_rule))
CAF_ADD_TYPE_ID(troupe, (troupe::batches_evaluated))
CAF_ADD_TYPE_ID(troupe, (troupe::begin))
CAF_ADD_TYPE_ID(troupe, (troupe::block))
CAF_ADD_TYPE_ID(troupe, (troupe::cancel))
CAF_ADD_TYPE_ID(troupe, (troupe::commit_seen))
CAF_ADD_TYPE_ID(troupe, (troupe::committed))
CAF_ADD_TYPE_ID(troupe, (troupe::connect_parts))
CAF_ADD_TYPE_ID(troupe, (troupe::connect_reader))
CAF_ADD_TYPE_ID(troupe, (troupe::connect_records))
CAF_ADD_TYPE_ID(troupe, (troupe::connect_reducer))
CAF_ADD_TYPE_ID(troupe, (troupe::connect_reports))
CAF_ADD_TYPE_ID(troupe, (troupe::connect_source))
CAF_ADD_TYPE_ID(troupe, (troupe::deadline))
CAF_ADD_TYPE_ID(troupe, (troupe::departed))
CAF_ADD_TYPE_ID(troupe, (troupe::end_nodes))
CAF_ADD_TYPE_ID(troupe, (troupe::end_of_data))
CAF_ADD_TYPE_ID(troupe, (troupe::evaluate_at))
CAF_ADD_TYPE_ID(troupe, (troupe::evaluated))
CAF_ADD_TYPE_ID(troupe, (troupe::export_at))
CAF_ADD_TYPE_ID(troupe, (troupe::exported))
CAF_ADD_TYPE_ID(troupe, (troupe::fact))
CAF_ADD_TYPE_ID(troupe, (troupe::failure))
CAF_ADD_TYPE_ID(troupe, (troupe::finish_log))
CAF_ADD_TYPE_ID(troupe, (troupe::flush))
CAF_ADD_TYPE_ID(troupe, (troupe::flushed))
CAF_ADD_TYPE_ID(troupe, (troupe::gone))
CAF_ADD_TYPE_ID(troupe, (troupe::gradient_part))
CAF_ADD_TYPE_ID(troupe, (troupe::gradient_sum))
CAF_ADD_TYPE_ID(troupe, (troupe::halt))
CAF_ADD_TYPE_ID(troupe, (troupe::halted))
CAF_ADD_TYPE_ID(troupe, (troupe::hooks_ended))
CAF_ADD_TYPE_ID(troupe, (troupe::hooks_ready))
CAF_ADD_TYPE_ID(troupe, (troupe::input_failed))
CAF_ADD_TYPE_ID(troupe, (troupe::input_warned))
CAF_ADD_TYPE_ID(troupe, (troupe::leave))
CAF_ADD_TYPE_ID(troupe, (troupe::log_replaced))
CAF_ADD_TYPE_ID(troupe, (troupe::name_missing))
CAF_ADD_TYPE_ID(troupe, (troupe::name_newest))
CAF_ADD_TYPE_ID(troupe, (troupe::name_values))
CAF_ADD_TYPE_ID(troupe, (troupe::newest))
CAF_ADD_TYPE_ID(troupe, (troupe::note))
CAF_ADD_TYPE_ID(troupe, (troupe::prepare_plan))
CAF_ADD_TYPE_ID(troupe, (troupe::prepared))
CAF_ADD_TYPE_ID(troupe, (troupe::probe))
CAF_ADD_TYPE_ID(troupe, (troupe::proceed))
CAF_ADD_TYPE_ID(troupe, (troupe::progress))
CAF_ADD_TYPE_ID(troupe, (troupe::pull))
CAF_ADD_TYPE_ID(troupe, (troupe::read_variables))
CAF_ADD_TYPE_ID(troupe, (troupe::record))
CAF_ADD_TYPE_ID(troupe, (troupe::released))
CAF_ADD_TYPE_ID(troupe, (troupe::step_report))
CAF_ADD_TYPE_ID(troupe, (troupe::request))
CAF_ADD_TYPE_ID(troupe, (troupe::restore))
CAF_ADD_TYPE_ID(troupe, (troupe::restored))
CAF_ADD_TYPE_ID(troupe, (troupe::retire))
CAF_ADD_TYPE_ID(troupe, (troupe::rewind))
CAF_ADD_TYPE_ID(troupe, (troupe::record_credit))
CAF_ADD_TYPE_ID(troupe, (troupe::rule_applied))
CAF_ADD_TYPE_ID(troupe, (troupe::run))
CAF_ADD_TYPE_ID(troupe, (troupe::run_until))
CAF_ADD_TYPE_ID(troupe, (troupe::save_failed))
CAF_ADD_TYPE_ID(troupe, (troupe::scale_rate))
CAF_ADD_TYPE_ID(troupe, (troupe::show_state))
CAF_ADD_TYPE_ID(troupe, (troupe::state_shown))
CAF_ADD_TYPE_ID(troupe, (troupe::late_properties))
CAF_ADD_TYPE_ID(troupe, (troupe::late_properties_kept))
CAF_ADD_TYPE_ID(troupe, (troupe::set_loop))
CAF_ADD_TYPE_ID(troupe, (troupe::settle))
CAF_ADD_TYPE_ID(troupe, (troupe::snapshot_part))
CAF_ADD_TYPE_ID(troupe, (troupe::stand_in))
CAF_ADD_TYPE_ID(troupe, (troupe::standing))
CAF_ADD_TYPE_ID(troupe, (troupe::start_nodes))
CAF_ADD_TYPE_ID(troupe, (troupe::started))
CAF_ADD_TYPE_ID(troupe, (troupe::state_part))
CAF_ADD_TYPE_ID(troupe, (troupe::state_taken))
CAF_ADD_TYPE_ID(troupe, (troupe::stop))
CAF_ADD_TYPE_ID(troupe, (troupe::stream_end))
CAF_ADD_TYPE_ID(troupe, (troupe::unlease))
CAF_ADD_TYPE_ID(troupe, (troupe::variables_read))
CAF_ADD_TYPE_ID(troupe, (troupe::verdict_seen))
CAF_ADD_TYPE_ID(troupe, (troupe::wake))

CAF_END_TYPE_ID_BLOCK(troupe)
