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
#include "messages/snapshot.hpp"
#include "messages/status.hpp"
#include "messages/summary.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

// -- small interfaces, named for what they accept ---------------------------------------

using block_sink_actor = caf::typed_actor<
  caf::reacts_to<block>,          // Batches the sink has room for, in step order.
  caf::reacts_to<end_of_data>>;   // The source ended; nothing follows on that edge.

using credit_source_actor = caf::typed_actor<
  caf::reacts_to<pull>>;          // Credit: the sink has room up to `until_step`.

using report_sink_actor = caf::typed_actor<
  caf::reacts_to<step_report>,         // Steps that are done, in step order for each replica.
  caf::reacts_to<stream_end>>;    // Nothing of that replica follows.

using part_sink_actor = caf::typed_actor<
  caf::reacts_to<snapshot_part>,  // One part of the snapshot at its step.
  caf::reacts_to<gone>>;          // Of that node no further part comes.

using standing_sink_actor = caf::typed_actor<
  caf::reacts_to<standing>>;      // Where somebody stands who was asked.

using input_listener_actor = caf::typed_actor<
  caf::reacts_to<input_failed>,   // An infeed cannot go on.
  caf::reacts_to<input_warned>>;  // It goes on, but not quite as one would think.

using arena_owner_actor = caf::typed_actor<
  caf::reacts_to<released>>;      // The memory lent at that step may be written again.

using gradient_sink_actor = caf::typed_actor<
  caf::reacts_to<gradient_part>,  // One replica's gradient of a step.
  caf::reacts_to<applied>>;       // One replica has applied a step to its slice.

using record_source_actor = caf::typed_actor<
  caf::reacts_to<room>>;          // Credit: the summary writer has room.

// -- roles --------------------------------------------------------------------------------

using infeed_actor = credit_source_actor::extend<
  caf::reacts_to<begin>,          // A new attempt: stand at its step, at its position.
  caf::reacts_to<run>,            // The horizon: nothing is read past `until`.
  caf::reacts_to<rewind>,         // The job ended at an earlier step: send the part of that one.
  caf::reacts_to<halt>,           // The job has failed: read no further.
  caf::reacts_to<stop>,           // Where several groups read: the step at hand is the first that is missing.
  caf::reacts_to<leave>,          // One reader is gone.
  caf::reacts_to<probe>,          // Answered by `standing`.
  caf::reacts_to<connect>,        // The reader of an edge.
  caf::reacts_to<connect_parts>,  // Another checkpoint writer.
  caf::reacts_to<proceed>>;       // To itself.

using replica_actor = block_sink_actor::extend<
  caf::reacts_to<pull>,           // Credit, from a reader of one of its out-ports.
  caf::reacts_to<leave>,          // A reader, or a source, is gone.
  caf::reacts_to<retire>,         // The group is trained no further.
  caf::reacts_to<begin>,          // A new attempt: stand at its step.
  caf::reacts_to<run>,            // The horizon: nothing is computed past `until`.
  caf::reacts_to<connect>,        // Whom to pull from, for an edge.
  caf::reacts_to<connect_parts>,  // Another checkpoint writer.
  caf::reacts_to<connect_reports>,  // The outfeed is gone.
  caf::reacts_to<stop>,           // End at the step at hand.
  caf::reacts_to<halt>,           // The job has failed: compute no further.
  caf::reacts_to<probe>,          // Answered by `standing`.
  caf::reacts_to<gradient_sum>,   // What to apply, or why nobody does.
  caf::reacts_to<applied>,        // Every slice holds the step.
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
  caf::reacts_to<abandon>,        // Snapshots that will not be complete.
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
  caf::reacts_to<answered>,       // The hooks have returned from a fact.
  caf::reacts_to<request>,        // The user wants something.
  caf::reacts_to<deadline>>;      // To itself.

/// Where an outfeed's progress goes: a chief, an evaluator or a predictor.
using progress_sink_actor = caf::typed_actor<
  caf::reacts_to<progress>,
  caf::reacts_to<stream_end>>;

}  // namespace troupe
