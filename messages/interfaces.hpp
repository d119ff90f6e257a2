// The protocol: the messages that each typed actor handles, with one sentence for each message.
//
//                                                       ┌─ record ─► summary_writer ◄─ note, record ─┐
//  dataset ─► infeed ══ block ══► replica ══ report ══► outfeed ── progress ──► chief ── fact ──► callbacks
//               ▲                  │   ▲                                          │  ▲
//               └────── pull ──────┘   └── gradient_sum ── reducer                │  └── committed ── checkpoint_writer
//                                  └── snapshot_part ──► checkpoint_writer        └── evaluate_at ─► evaluator
#pragma once

#include "messages/agents.hpp"
#include "messages/block.hpp"
#include "messages/control.hpp"
#include "messages/evaluation.hpp"
#include "messages/following.hpp"
#include "messages/instances.hpp"
#include "messages/reduction.hpp"
#include "messages/report.hpp"
#include "messages/session.hpp"
#include "messages/sinks.hpp"
#include "messages/snapshot.hpp"
#include "messages/status.hpp"
#include "messages/summary.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

// -- roles --------------------------------------------------------------------------------

using agent_actor = caf::typed_actor<caf::reacts_to<start_nodes>,   // A new attempt: start these nodes; answered by
                                                                    // `started`.
                                     caf::reacts_to<end_nodes>,     // End these nodes.
                                     caf::reacts_to<cancel>,        // Interrupt nodes inside a step or a read.
                                     caf::reacts_to<prepare_plan>,  // The next attempt has another plan; answered by
                                                                    // `prepared`.
                                     caf::reacts_to<prepared>>;     // The preparer's answer, which the agent passes on.

using preparer_actor = caf::typed_actor<caf::reacts_to<prepare_plan>>;  // Make the plan that these books want; answered
                                                                        // by `prepared`.

using infeed_actor = credit_source_actor::extend<caf::reacts_to<begin>,   // A new attempt: begin at its step, from its
                                                                          // position.
                                                 caf::reacts_to<run>,     // The horizon: nothing is read past `until`.
                                                 caf::reacts_to<rewind>,  // The job ended at an earlier step: send the
                                                                          // part of that step.
                                                 caf::reacts_to<halt>,    // The attempt has failed: read no further;
                                                                          // answered by `halted`.
                                                 caf::reacts_to<stop>,    // In a job of several groups: end before the
                                                                          // next step.
                                                 caf::reacts_to<leave>,   // The reader of an edge has left.
                                                 caf::reacts_to<retire>,  // The group whose data it reads retires.
                                                 caf::reacts_to<probe>,   // Answered by `standing`.
                                                 caf::reacts_to<connect_reader>,  // Names the reader of an edge.
                                                 caf::reacts_to<connect_parts>,   // Names the checkpoint writer, or its
                                                                                  // replacement.
                                                 caf::reacts_to<proceed>>;  // From itself: continue unfinished work.

using replica_actor = block_sink_actor::extend<caf::reacts_to<pull>,   // Credit, from a reader of one of its out-ports.
                                               caf::reacts_to<leave>,  // The reader or the source of an edge has left.
                                               caf::reacts_to<retire>,      // The group retires: compute, but apply no
                                                                            // updates.
                                               caf::reacts_to<scale_rate>,  // Another factor of the learning rates from
                                                                            // a step on.
                                               caf::reacts_to<set_loop>,    // Another length of loops from a state on.
                                               caf::reacts_to<begin>,       // A new attempt: begin at its step.
                                               caf::reacts_to<run>,  // The horizon: nothing is computed past `until`.
                                               caf::reacts_to<connect_source>,   // Names the source of an in-port's
                                                                                 // edge, which receives `pull`.
                                               caf::reacts_to<connect_reader>,   // Names the reader of an out-port's
                                                                                 // edge.
                                               caf::reacts_to<connect_parts>,    // Names the checkpoint writer, or its
                                                                                 // replacement.
                                               caf::reacts_to<connect_reports>,  // Names the outfeed, or the receiver
                                                                                 // of reports once that has ended.
                                               caf::reacts_to<stop>,             // End at the step at hand.
                                               caf::reacts_to<connect_reducer>,  // Names the reducer, or its
                                                                                 // replacement.
                                               caf::reacts_to<halt>,   // The attempt has failed: compute no further;
                                                                       // answered by `halted`.
                                               caf::reacts_to<probe>,  // Answered by `standing`.
                                               caf::reacts_to<read_variables>,  // Answered by `variables_read`.
                                               caf::reacts_to<wake>,            // All replicas have come to the phase.
                                               caf::reacts_to<gradient_sum>,  // The sum to apply, or the reason why no
                                                                              // replica applies it.
                                               caf::reacts_to<all_applied>,   // Every replica has applied the step to
                                                                              // its slice.
                                               caf::reacts_to<released>,      // A lent arena may be written again.
                                               caf::reacts_to<state_part>,    // Before `begin`: write it to the store
                                                                            // that you own; answered by `state_taken`.
                                               caf::reacts_to<proceed>>;  // From itself: continue unfinished work.

using reducer_actor = gradient_sink_actor::extend<caf::reacts_to<halt>,    // The attempt has failed: sum no further;
                                                                           // answered by `halted`.
                                                  caf::reacts_to<probe>>;  // Answered by `standing`.

using outfeed_actor = report_sink_actor::extend_with<block_sink_actor>::extend<
    caf::reacts_to<connect_source>,   // Names a replica whose entries for host calls come along an edge.
    caf::reacts_to<connect_records>,  // Names the summary writer; without one nothing is recorded.
    caf::reacts_to<record_credit>,    // Credit: the summary writer has room.
    caf::reacts_to<begin>,            // A new attempt: drop the reports of older ones.
    caf::reacts_to<departed>,         // A group has left: its reports are no longer awaited.
    caf::reacts_to<retire>,           // A group trains no more.
    caf::reacts_to<set_loop>,         // Another length of loops.
    caf::reacts_to<run>,              // The job goes on, after it stood still: that time is of no loop.
    caf::reacts_to<scale_rate>,       // The learning rates have a new factor from a step on: record it.
    caf::reacts_to<probe>,            // Answered by `standing`.
    caf::reacts_to<flush>>;           // Pass on all complete steps, then answer `flushed`.

using checkpoint_writer_actor = part_sink_actor::extend<caf::reacts_to<restore>,      // Open the directory and send its
                                                                                      // newest whole checkpoint to the
                                                                                      // stores' owners.
                                                        caf::reacts_to<name_newest>,  // Names the newest commit;
                                                                                      // answered by `newest`.
                                                        caf::reacts_to<state_taken>,  // An owner has written a part of
                                                                                      // the state.
                                                        caf::reacts_to<departed>,  // A group has left: later snapshots
                                                                                   // are complete without it.
                                                        caf::reacts_to<stand_in>,  // In place of a writer that died:
                                                                                   // open the directory and load
                                                                                   // nothing.
                                                        caf::reacts_to<abandon>,   // These snapshots will never be
                                                                                   // complete.
                                                        caf::reacts_to<name_missing>,  // A snapshot has waited too
                                                                                       // long: name its missing part.
                                                        caf::reacts_to<settle>,  // The job has failed: report for each
                                                                                 // snapshot whether it is committed or
                                                                                 // cannot be.
                                                        caf::reacts_to<show_state>,  // Send a snapshot to a reader,
                                                                                     // without a commit; answered by
                                                                                     // `state_shown`.
                                                        caf::reacts_to<late_properties>,  // A verdict on a committed
                                                                                          // checkpoint; answered by
                                                                                          // `late_properties_kept`.
                                                        caf::reacts_to<unlease>,  // The lease of a checkpoint ends.
                                                        caf::reacts_to<probe>>;   // Answered by `standing`.

using summary_writer_actor = part_sink_actor::extend<  // Passes a part on once all earlier records are in the file.
    caf::reacts_to<connect_parts>,                     // Names the checkpoint writer to which it passes parts on.
    caf::reacts_to<record>,                            // The summary values of one step.
    caf::reacts_to<note>,                              // A START or CHECKPOINT message.
    caf::reacts_to<deadline>,                          // From itself: time to flush.
    caf::reacts_to<probe>,                             // Answered by `standing`.
    caf::reacts_to<finish_log>>;                       // Close the file, then end.

using evaluator_actor = caf::typed_actor<caf::reacts_to<started>,      // The nodes of its sub-plan have been started.
                                         caf::reacts_to<evaluate_at>,  // Evaluate a checkpoint, or the state that was
                                                                       // sent before; answered by `evaluated`.
                                         caf::reacts_to<state_part>,   // A part of the state to evaluate; answered by
                                                                       // `state_taken`.
                                         caf::reacts_to<export_at>,    // Run the exporters on a checkpoint; answered by
                                                                       // `exported`.
                                         caf::reacts_to<apply_rule>,   // Ask a rule's predicate; answered by
                                                                       // `rule_applied`.
                                         caf::reacts_to<request>,      // Stop: cancel the running evaluation.
                                         caf::reacts_to<progress>,     // The sub-plan's replicas reached a state.
                                         caf::reacts_to<stream_end>,   // The sub-plan's data ended, or could not be
                                                                       // read.
                                         caf::reacts_to<halted>,       // A replica's answer to `halt`.
                                         caf::reacts_to<probe>,        // Answered by `standing`.
                                         caf::reacts_to<standing>,     // A node's answer to `probe`.
                                         caf::reacts_to<deadline>>;    // From itself: check the waits.

using predictor_actor = credit_source_actor::extend<  // `pull` comes from the consumer of the predictions.
    caf::reacts_to<started>,                          // The nodes of its sub-plan have been started.
    caf::reacts_to<progress>,                         // The sub-plan's replicas reached a state.
    caf::reacts_to<stream_end>,                       // The sub-plan's data ended, or could not be read.
    caf::reacts_to<standing>,                         // A node's answer to `probe`.
    caf::reacts_to<deadline>>;                        // From itself: check the waits.

using callbacks_actor = caf::typed_actor<caf::reacts_to<name_values>,  // Names the values that later facts show.
                                         caf::reacts_to<fact>,    // An event or the values of a step, in step order.
                                         caf::reacts_to<probe>>;  // Answered by `standing`.

/// The driver of an evaluation without training.
using lone_evaluation_actor = caf::typed_actor<caf::reacts_to<started>,  // The evaluator and its summary writer have
                                                                         // been started.
                                               caf::reacts_to<batches_evaluated>,  // Ignored: an evaluation alone shows
                                                                                   // no progress.
                                               caf::reacts_to<evaluated>,     // The result, or the reason why there is
                                                                              // none.
                                               caf::reacts_to<failure>,       // The event file could not be written.
                                               caf::reacts_to<log_replaced>,  // The event file was lost, and another
                                                                              // one has replaced it.
                                               caf::reacts_to<record_credit>>;  // Ignored: an evaluation has only a few
                                                                                // records.

using checkpoint_watcher_actor = caf::typed_actor<caf::reacts_to<proceed>,  // From itself: look at the directory again.
                                                  caf::reacts_to<probe>>;   // Answered by `standing`.

/// The driver of an evaluator's process: it follows the checkpoints that a job in another process commits.
using follower_actor = evaluation_sink_actor::extend<caf::reacts_to<started>,        // Its nodes have been started.
                                                     caf::reacts_to<commit_seen>,    // The directory has another newest
                                                                                     // checkpoint, or another owner.
                                                     caf::reacts_to<record_credit>,  // Credit from the summary writer
                                                                                     // of an evaluation.
                                                     caf::reacts_to<failure>,  // An event file could not be written.
                                                     caf::reacts_to<log_replaced>,  // An event file was lost, and
                                                                                    // another one has replaced it.
                                                     caf::reacts_to<standing>,      // A node's answer to `probe`.
                                                     caf::reacts_to<request>,    // A stop, an abort or a report, from
                                                                                 // the user.
                                                     caf::reacts_to<deadline>>;  // From itself: check the waits.

using chief_actor = caf::typed_actor<caf::reacts_to<started>,   // Nodes have been started for an attempt.
                                     caf::reacts_to<prepared>,  // Another plan is ready, or there is none.
                                     caf::reacts_to<newest>,  // The newest commit, if it was asked for or wants another
                                                              // plan.
                                     caf::reacts_to<restored>,      // The parameter stores are filled.
                                     caf::reacts_to<progress>,      // All replicas reached a state.
                                     caf::reacts_to<stream_end>,    // The data ended at that state, or a step could not
                                                                    // be made.
                                     caf::reacts_to<step_report>,   // Steps of one replica, when there is no outfeed.
                                     caf::reacts_to<input_failed>,  // An infeed cannot read a batch or save its
                                                                    // position.
                                     caf::reacts_to<input_warned>,  // An infeed's warning about the data.
                                     caf::reacts_to<log_replaced>,  // A summary writer's warning about its event file.
                                     caf::reacts_to<failure>,       // Another failure.
                                     caf::reacts_to<flushed>,       // The outfeed has passed on all complete steps.
                                     caf::reacts_to<halted>,        // A node's answer to `halt`.
                                     caf::reacts_to<standing>,      // A node's answer to `probe`.
                                     caf::reacts_to<committed>,     // A snapshot is durable.
                                     caf::reacts_to<late_properties_kept>,  // A verdict on a checkpoint is durable.
                                     caf::reacts_to<state_shown>,           // A snapshot has been sent to its reader.
                                     caf::reacts_to<save_failed>,           // A snapshot will not be committed.
                                     caf::reacts_to<batches_evaluated>,     // Progress of an evaluation.
                                     caf::reacts_to<evaluated>,             // An evaluation ended.
                                     caf::reacts_to<exported>,              // The exporters of an evaluation have run.
                                     caf::reacts_to<rule_applied>,          // The predicate of a rule has answered.
                                     caf::reacts_to<record_credit>,  // Credit from the summary writer of evaluations.
                                     caf::reacts_to<verdict_seen>,   // An evaluator in another process has judged.
                                     caf::reacts_to<hooks_ready>,    // All hooks have begun.
                                     caf::reacts_to<answered>,       // The hooks have returned from a fact.
                                     caf::reacts_to<hooks_ended>,    // The hooks have seen the end.
                                     caf::reacts_to<request>,    // A save, a stop or an abort, from the user or a hook.
                                     caf::reacts_to<run_until>,  // The caller of a session moves its gate.
                                     caf::reacts_to<read_variables>,  // The caller of a session wants variables.
                                     caf::reacts_to<variables_read>,  // A replica's answer to `read_variables`.
                                     caf::reacts_to<deadline>>;       // From itself: check the waits.

}  // namespace troupe
