// The protocol: every typed actor, one sentence above each message. Who may be told what.
//
//                                                             ┌─ record ─► summary_writer ◄─ note, record ─┐
//        dataset ─► infeed ══ block ══► replica ══ report ══► outfeed ── progress ──► chief ── fact ──► callbacks
//                     ▲                  │   ▲                                          │  ▲
//                     └────── pull ──────┘   └── gradient_sum ── reducer                │  └── committed ── checkpoint_writer
//                                        └── snapshot_part ──► checkpoint_writer        └── evaluate_at ─► evaluator
#pragma once

#include "messages/block.hpp"
#include "messages/control.hpp"
#include "messages/evaluation.hpp"
#include "messages/reduction.hpp"
#include "messages/report.hpp"
#include "messages/sinks.hpp"
#include "messages/snapshot.hpp"
#include "messages/status.hpp"
#include "messages/summary.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

// -- roles --------------------------------------------------------------------------------

using infeed_actor = credit_source_actor::extend<
  caf::reacts_to<begin>,          // A new attempt: stand at its step, at its position.
  caf::reacts_to<run>,            // The horizon: nothing is read past `until`.
  caf::reacts_to<rewind>,         // The job ended at an earlier step: send the part of that one.
  caf::reacts_to<halt>,           // The job has failed: read no further.
  caf::reacts_to<stop>,           // Where several groups read: the step at hand is the first that is missing.
  caf::reacts_to<leave>,          // One reader is gone.
  caf::reacts_to<probe>,          // Answered by `standing`.
  caf::reacts_to<connect_reader>, // Who reads an edge.
  caf::reacts_to<connect_parts>,  // Another checkpoint writer.
  caf::reacts_to<proceed>>;       // To itself.

using replica_actor = block_sink_actor::extend<
  caf::reacts_to<pull>,           // Credit, from a reader of one of its out-ports.
  caf::reacts_to<leave>,          // A reader, or a source, is gone.
  caf::reacts_to<retire>,         // The group is trained no further.
  caf::reacts_to<begin>,          // A new attempt: stand at its step.
  caf::reacts_to<run>,            // The horizon: nothing is computed past `until`.
  caf::reacts_to<connect_source>, // Whom to pull from, for an edge that comes in.
  caf::reacts_to<connect_reader>, // Who reads an edge that goes out.
  caf::reacts_to<connect_parts>,  // Another checkpoint writer.
  caf::reacts_to<connect_reports>,  // The outfeed is gone.
  caf::reacts_to<stop>,           // End at the step at hand.
  caf::reacts_to<halt>,           // The job has failed: compute no further.
  caf::reacts_to<probe>,          // Answered by `standing`.
  caf::reacts_to<gradient_sum>,   // What to apply, or why nobody does.
  caf::reacts_to<all_applied>,    // Every slice holds the step.
  caf::reacts_to<released>,       // A lent arena is free again.
  caf::reacts_to<proceed>>;       // To itself.

using reducer_actor = gradient_sink_actor;

using outfeed_actor = report_sink_actor::extend<
  caf::reacts_to<room>,           // Credit: the summary writer has room.
  caf::reacts_to<begin>,          // A new attempt: drop what older ones left.
  caf::reacts_to<probe>,          // Answered by `standing`.
  caf::reacts_to<flush>>;         // Pass on all that is complete, then say so.

using checkpoint_writer_actor = part_sink_actor::extend<
  caf::reacts_to<restore>,        // Open the directory, load its newest whole checkpoint.
  caf::reacts_to<stand_in>,       // Open it and load nothing: the writer before has died.
  caf::reacts_to<abandon>,        // Snapshots that will not be complete.
  caf::reacts_to<name_missing>,   // One that has waited too long: which part does it lack?
  caf::reacts_to<settle>,         // The job has failed: which snapshots are complete, and which never will be?
  caf::reacts_to<unlease>>;       // Nobody reads that commit any more.

using summary_writer_actor = part_sink_actor::extend<  // A part that is passed on once all that came before is in the file.
  caf::reacts_to<connect_parts>,  // The checkpoint writer it is passed on to.
  caf::reacts_to<record>,         // The values of one step.
  caf::reacts_to<note>,           // A word about the session.
  caf::reacts_to<deadline>,       // To itself: time to flush.
  caf::reacts_to<finish_log>>;        // Close the file, then end.

using evaluator_actor = caf::typed_actor<
  caf::reacts_to<evaluate_at>,       // Evaluate one checkpoint; answered by `evaluated`.
  caf::reacts_to<request>,        // Stop: the running evaluation is cancelled.
  caf::reacts_to<progress>,       // Its own outfeed has all steps below this one.
  caf::reacts_to<stream_end>,     // Its data ended, or could not be read.
  caf::reacts_to<standing>,       // Where a node of its own stands.
  caf::reacts_to<deadline>>;      // To itself.

using predictor_actor = credit_source_actor::extend<  // The consumer of its predictions pulls.
  caf::reacts_to<progress>,       // Its own outfeed has all steps below this one.
  caf::reacts_to<stream_end>,     // Its data ended, or could not be read.
  caf::reacts_to<standing>,       // Where a node of its own stands.
  caf::reacts_to<deadline>>;      // To itself.

using callbacks_actor = caf::typed_actor<
  caf::reacts_to<fact>>;          // What happened, in step order.

using chief_actor = caf::typed_actor<
  caf::reacts_to<restored>,       // The parameter store is filled.
  caf::reacts_to<progress>,       // All replicas reached a state.
  caf::reacts_to<stream_end>,     // The job's data ended there, or a step could not be made.
  caf::reacts_to<step_report>,    // One replica's steps, when there is no outfeed.
  caf::reacts_to<input_failed>,   // An infeed cannot go on, by whatever step.
  caf::reacts_to<input_warned>,   // What the user ought to know of the data.
  caf::reacts_to<failure>,        // Something else went wrong.
  caf::reacts_to<flushed>,        // The outfeed holds nothing more.
  caf::reacts_to<standing>,       // Where a node stands that was asked.
  caf::reacts_to<committed>,      // A snapshot is durable.
  caf::reacts_to<save_failed>,    // A snapshot never will be.
  caf::reacts_to<evaluated>,      // An evaluation ended.
  caf::reacts_to<room>,           // The writer of evaluations has room.
  caf::reacts_to<hooks_ready>,    // All hooks have begun.
  caf::reacts_to<answered>,       // They have returned from a fact.
  caf::reacts_to<hooks_ended>,    // They have seen the end.
  caf::reacts_to<request>,        // The user wants something.
  caf::reacts_to<deadline>>;      // To itself.

}  // namespace troupe
