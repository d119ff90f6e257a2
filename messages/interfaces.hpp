// The protocol: the messages that each typed actor handles, with one sentence for each message.
//
//                                                             ┌─ record ─► summary_writer ◄─ note, record ─┐
//        dataset ─► infeed ══ block ══► replica ══ report ══► outfeed ── progress ──► chief ── fact ──► callbacks
//                     ▲                  │   ▲                                          │  ▲
//                     └────── pull ──────┘   └── gradient_sum ── reducer                │  └── committed ── checkpoint_writer
//                                        └── snapshot_part ──► checkpoint_writer        └── evaluate_at ─► evaluator
#pragma once

#include "messages/agents.hpp"
#include "messages/block.hpp"
#include "messages/control.hpp"
#include "messages/evaluation.hpp"
#include "messages/instances.hpp"
#include "messages/reduction.hpp"
#include "messages/report.hpp"
#include "messages/sinks.hpp"
#include "messages/snapshot.hpp"
#include "messages/status.hpp"
#include "messages/summary.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

// -- roles --------------------------------------------------------------------------------

using agent_actor = caf::typed_actor<
  caf::reacts_to<start_nodes>,    // A new attempt of the sender, and who is to be started for it; answered by `started`.
  caf::reacts_to<end_nodes>,      // These nodes end.
  caf::reacts_to<cancel>,         // Nodes inside a step or a read are interrupted.
  caf::reacts_to<prepare_plan>,        // The next attempt has another plan; answered by `prepared`.
  caf::reacts_to<prepared>>;      // The answer of its preparer, which it passes on.

using preparer_actor = caf::typed_actor<
  caf::reacts_to<prepare_plan>>;       // Make the plan that these books want; answered by `prepared`.

using infeed_actor = credit_source_actor::extend<
  caf::reacts_to<begin>,          // A new attempt: begin at its step, from its position.
  caf::reacts_to<run>,            // The horizon: nothing is read past `until`.
  caf::reacts_to<rewind>,         // The job ended at an earlier step: send the part of that step.
  caf::reacts_to<halt>,           // The attempt has failed: read no further; answered by `halted`.
  caf::reacts_to<stop>,           // In a job of several groups: end before the next step.
  caf::reacts_to<leave>,          // One reader has left an edge.
  caf::reacts_to<probe>,          // Answered by `standing`.
  caf::reacts_to<connect_reader>, // The reader of an edge.
  caf::reacts_to<connect_parts>,  // The checkpoint writer, or another one.
  caf::reacts_to<proceed>>;       // To itself.

using replica_actor = block_sink_actor::extend<
  caf::reacts_to<pull>,           // Credit, from a reader of one of its out-ports.
  caf::reacts_to<leave>,          // A reader or a source has left an edge.
  caf::reacts_to<retire>,         // The group retires: compute, and apply nothing.
  caf::reacts_to<scale_rate>,     // Another learning rate from a step on.
  caf::reacts_to<begin>,          // A new attempt: begin at its step.
  caf::reacts_to<run>,            // The horizon: nothing is computed past `until`.
  caf::reacts_to<connect_source>, // The source of an edge to an in-port; it receives `pull`.
  caf::reacts_to<connect_reader>, // The reader of an edge from an out-port.
  caf::reacts_to<connect_parts>,  // The checkpoint writer, or another one.
  caf::reacts_to<connect_reports>,  // The outfeed, or another receiver of reports once that has ended.
  caf::reacts_to<stop>,           // End at the step at hand.
  caf::reacts_to<connect_reducer>,  // The reducer, or another one.
  caf::reacts_to<halt>,           // The attempt has failed: compute no further; answered by `halted`.
  caf::reacts_to<probe>,          // Answered by `standing`.
  caf::reacts_to<gradient_sum>,   // The sum to apply, or the reason why no replica applies it.
  caf::reacts_to<all_applied>,    // Every replica has applied the step to its slice.
  caf::reacts_to<released>,       // A lent arena may be written again.
  caf::reacts_to<state_part>,     // To the owner of a group's store, before `begin`: write it; answered by `state_taken`.
  caf::reacts_to<proceed>>;       // To itself.

using reducer_actor = gradient_sink_actor::extend<
  caf::reacts_to<halt>>;          // The attempt has failed: add nothing further; answered by `halted`.

using outfeed_actor = report_sink_actor::extend<
  caf::reacts_to<connect_records>,  // The summary writer; none: nothing is recorded.
  caf::reacts_to<record_credit>,           // Credit: the summary writer has room.
  caf::reacts_to<begin>,          // A new attempt: drop the reports of older ones.
  caf::reacts_to<departed>,       // A group has left: its reports are awaited no more.
  caf::reacts_to<scale_rate>,     // Another learning rate from a step on, to record.
  caf::reacts_to<probe>,          // Answered by `standing`.
  caf::reacts_to<flush>>;         // Pass on all complete steps, then answer `flushed`.

using checkpoint_writer_actor = part_sink_actor::extend<
  caf::reacts_to<restore>,        // Open the directory and send its newest whole checkpoint to the owners of the stores.
  caf::reacts_to<name_newest>,    // Which commit is the newest? Answered by `newest`.
  caf::reacts_to<state_taken>,    // An owner has written a part of it.
  caf::reacts_to<departed>,       // A group has left: later snapshots are complete without it.
  caf::reacts_to<stand_in>,       // Open it and load nothing, in place of a writer that died.
  caf::reacts_to<abandon>,        // Snapshots that will not be complete.
  caf::reacts_to<name_missing>,   // A snapshot has waited too long: name its missing part.
  caf::reacts_to<settle>,         // The job has failed: report for each snapshot whether it is committed or cannot be.
  caf::reacts_to<show_state>,     // A snapshot that is for a reader, and not to be committed; answered by `state_shown`.
  caf::reacts_to<late_properties>,        // What an evaluation has shown of a committed checkpoint; answered by `late_properties_kept`.
  caf::reacts_to<unlease>>;       // The lease of that checkpoint ends.

using summary_writer_actor = part_sink_actor::extend<  // A part is passed on once all earlier records are in the file.
  caf::reacts_to<connect_parts>,  // The checkpoint writer to which it passes parts on.
  caf::reacts_to<record>,         // The values of one step.
  caf::reacts_to<note>,           // A START or CHECKPOINT message.
  caf::reacts_to<deadline>,       // To itself: time to flush.
  caf::reacts_to<finish_log>>;    // Close the file, then end.

using evaluator_actor = caf::typed_actor<
  caf::reacts_to<started>,        // The nodes of its sub-plan.
  caf::reacts_to<evaluate_at>,    // Evaluate one checkpoint, or the state that was sent before; answered by `evaluated`.
  caf::reacts_to<state_part>,     // A part of that state; answered by `state_taken`.
  caf::reacts_to<export_at>,      // Run the exporters on one; answered by `exported`.
  caf::reacts_to<apply_rule>,     // Ask a predicate; answered by `rule_applied`.
  caf::reacts_to<request>,        // Stop: the running evaluation is cancelled.
  caf::reacts_to<progress>,       // The sub-plan's replicas reached a state.
  caf::reacts_to<stream_end>,     // The sub-plan's data ended, or could not be read.
  caf::reacts_to<standing>,       // A node's answer to `probe`.
  caf::reacts_to<deadline>>;      // To itself.

using predictor_actor = credit_source_actor::extend<  // The consumer of its predictions sends `pull`.
  caf::reacts_to<started>,        // The nodes of its sub-plan.
  caf::reacts_to<progress>,       // The sub-plan's replicas reached a state.
  caf::reacts_to<stream_end>,     // The sub-plan's data ended, or could not be read.
  caf::reacts_to<standing>,       // A node's answer to `probe`.
  caf::reacts_to<deadline>>;      // To itself.

using callbacks_actor = caf::typed_actor<
  caf::reacts_to<name_values>,    // The names of what the facts that follow show.
  caf::reacts_to<fact>>;          // An event or the values of a step, in step order.

/// The driver of an evaluation without training.
using lone_evaluation_actor = caf::typed_actor<
  caf::reacts_to<started>,        // The evaluator, and the writer of its event file.
  caf::reacts_to<batches_evaluated>,  // Ignored: nobody is shown how far an evaluation alone is.
  caf::reacts_to<evaluated>,      // The result, or why there is none.
  caf::reacts_to<failure>,        // The event file could not be written.
  caf::reacts_to<log_replaced>,   // It was lost, and has a successor.
  caf::reacts_to<record_credit>>; // Ignored: an evaluation has a few records.

using chief_actor = caf::typed_actor<
  caf::reacts_to<started>,        // Nodes have been started for an attempt.
  caf::reacts_to<prepared>,       // Another plan is there, or there is none.
  caf::reacts_to<newest>,         // The newest commit, or that it wants another plan.
  caf::reacts_to<restored>,       // The parameter store is filled.
  caf::reacts_to<progress>,       // All replicas reached a state.
  caf::reacts_to<stream_end>,     // The data ended at that state, or a step could not be made.
  caf::reacts_to<step_report>,    // One replica's steps, when there is no outfeed.
  caf::reacts_to<input_failed>,   // An infeed cannot read or save at a step.
  caf::reacts_to<input_warned>,   // An infeed's warning about the data.
  caf::reacts_to<log_replaced>,   // A summary writer's about its event file.
  caf::reacts_to<failure>,        // Another failure.
  caf::reacts_to<flushed>,        // The outfeed has passed on all complete steps.
  caf::reacts_to<halted>,         // A node's answer to `halt`.
  caf::reacts_to<standing>,       // A node's answer to `probe`.
  caf::reacts_to<committed>,      // A snapshot is durable.
  caf::reacts_to<late_properties_kept>,   // A verdict on a checkpoint is durable.
  caf::reacts_to<state_shown>,    // A snapshot has been sent to its reader.
  caf::reacts_to<save_failed>,    // A snapshot will not be committed.
  caf::reacts_to<batches_evaluated>,  // How far an evaluation is.
  caf::reacts_to<evaluated>,      // An evaluation ended.
  caf::reacts_to<exported>,       // The exporters of an evaluation have run.
  caf::reacts_to<rule_applied>,   // A predicate of a rule has answered.
  caf::reacts_to<record_credit>,           // Credit from the summary writer of evaluations.
  caf::reacts_to<hooks_ready>,    // All hooks have begun.
  caf::reacts_to<answered>,       // The hooks have returned from a fact.
  caf::reacts_to<hooks_ended>,    // The hooks have seen the end.
  caf::reacts_to<request>,        // A save, a stop or an abort, from the user or a hook.
  caf::reacts_to<deadline>>;      // To itself.

}  // namespace troupe
