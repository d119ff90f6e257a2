// Small interfaces, named after the messages that they accept, so that a sender depends on nothing else of the
// receiver. Messages carry handles of these types.
#pragma once

#include "messages/fwd.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

using block_sink_actor = caf::typed_actor<caf::reacts_to<block>,  // Batches for which the sink has room, in step order.
                                          caf::reacts_to<end_of_data>>;  // The source has ended; nothing follows on
                                                                         // that edge.

using credit_source_actor = caf::typed_actor<caf::reacts_to<pull>>;  // Credit: the sink has room up to `until_step`.

using report_sink_actor = caf::typed_actor<caf::reacts_to<step_report>,  // Steps that are done, in step order for each
                                                                         // replica.
                                           caf::reacts_to<stream_end>>;  // No report of that replica follows.

using part_sink_actor = caf::typed_actor<caf::reacts_to<snapshot_part>,  // One part of the snapshot of one state.
                                         caf::reacts_to<gone>>;          // No further part of a node follows.

using starting_sink_actor = caf::typed_actor<caf::reacts_to<started>>;  // The nodes that a driver has asked for have
                                                                        // been started.

using preparation_sink_actor = caf::typed_actor<caf::reacts_to<prepared>>;  // Another plan is ready, or there is none.

using probed_actor = caf::typed_actor<caf::reacts_to<probe>>;            // Any node of a job; answers by `standing`.
using standing_sink_actor = caf::typed_actor<caf::reacts_to<standing>>;  // A node's answer to `probe`.

using halted_sink_actor = caf::typed_actor<caf::reacts_to<halted>>;  // A node is inside no step and no read.

using flush_sink_actor = caf::typed_actor<caf::reacts_to<flushed>>;  // The outfeed has passed on all complete steps.

using input_listener_actor = caf::typed_actor<caf::reacts_to<input_failed>,   // An infeed cannot read a batch or save
                                                                              // its position.
                                              caf::reacts_to<input_warned>>;  // A warning; the infeed goes on.

using arena_owner_actor = caf::typed_actor<caf::reacts_to<released>>;  // The memory lent at one state may be written
                                                                       // again.

using state_owner_actor = caf::typed_actor<caf::reacts_to<state_part>>;  // A part of the state at which the next
                                                                         // attempt begins; answered by `state_taken`.

using state_source_actor = caf::typed_actor<caf::reacts_to<state_taken>>;  // Credit: a part has been written; another
                                                                           // one may follow.

using variables_sink_actor = caf::typed_actor<caf::reacts_to<variables_read>>;  // Variables of one state.

using gradient_sink_actor = caf::typed_actor<caf::reacts_to<gradient_part>,  // One replica's gradient of a step.
                                             caf::reacts_to<applied>>;  // One replica has applied a step to its slice.

using wake_sink_actor = caf::typed_actor<caf::reacts_to<wake>>;  // All replicas have come to a phase of a step.

using record_source_actor = caf::typed_actor<caf::reacts_to<record_credit>>;  // Credit: the summary writer has room.

using record_sink_actor = caf::typed_actor<caf::reacts_to<record>>;  // The summary values of one step.

using progress_sink_actor = caf::typed_actor<caf::reacts_to<progress>,     // All replicas reached a state.
                                             caf::reacts_to<stream_end>>;  // The data ended at that state, or a step
                                                                           // could not be made.

using failure_sink_actor = caf::typed_actor<caf::reacts_to<failure>>;  // An actor cannot go on.

using log_listener_actor = failure_sink_actor::extend<caf::reacts_to<log_replaced>>;  // An event file was lost, and
                                                                                      // another one has replaced it.

using commit_sink_actor = failure_sink_actor::extend<caf::reacts_to<restored>,  // The parameter stores are filled.
                                                     caf::reacts_to<newest>,  // The newest commit: it was asked for, or
                                                                              // it wants another plan and is not
                                                                              // restored.
                                                     caf::reacts_to<committed>,             // A snapshot is durable.
                                                     caf::reacts_to<late_properties_kept>,  // A verdict is durable.
                                                     caf::reacts_to<state_shown>,   // A snapshot has been sent to its
                                                                                    // reader.
                                                     caf::reacts_to<save_failed>>;  // A snapshot will not be committed.

using evaluation_sink_actor = caf::typed_actor<caf::reacts_to<batches_evaluated>,  // Progress of an evaluation.
                                               caf::reacts_to<evaluated>,          // An evaluation ended.
                                               caf::reacts_to<exported>,  // The exporters of an evaluation have run.
                                               caf::reacts_to<rule_applied>>;  // The predicate of a rule has answered.

using commit_listener_actor = caf::typed_actor<caf::reacts_to<commit_seen>>;  // The directory has another newest
                                                                              // checkpoint, or another owner.

using verdict_listener_actor = caf::typed_actor<caf::reacts_to<verdict_seen>>;  // An evaluator in another process has
                                                                                // judged.

using hook_listener_actor = failure_sink_actor::extend<caf::reacts_to<hooks_ready>,  // All hooks have begun.
                                                       caf::reacts_to<answered>,     // The hooks have returned from a
                                                                                     // fact.
                                                       caf::reacts_to<hooks_ended>,  // The hooks have seen the end.
                                                       caf::reacts_to<request>>;  // A hook requests a save, a stop or
                                                                                  // an abort.

}  // namespace troupe
