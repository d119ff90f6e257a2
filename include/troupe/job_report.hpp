// What the actors of a job do with their time, which `job::report` returns (job.hpp), and what bounds the job.
// Not needed to begin with.
//
//   const auto before = job->report();
//   ...                                                     // a minute later
//   if (const auto now = job->report(); now && before)
//     std::cout << tr::to_text(tr::since(*now, *before));   // ends with: "The data bound the job: infeed/0 is at ..."
//
// Plain data. Any thread may call.
#pragma once

#include <troupe/api.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

struct actor_report {
  std::string name = {};  ///< "replica/0"
  std::string role = {};  ///< "replica"
  /// The evaluator whose node it is; empty: it is one of the training.
  std::string driver = {};
  /// False: it did not answer within a second, since it is in the midst of a long step, read or write; the rest is 0.
  bool answered = true;
  double busy_seconds = 0;  ///< Handling messages: computing, reading, writing, calling user code.
  /// Waiting for messages, by what it lacked.
  struct waits {
    double input = 0;    ///< Work: batches, gradients, reports, parts of a snapshot, events.
    double peers = 0;    ///< The other replicas, in the reduction of a step.
    double room = 0;     ///< Credit of a receiver.
    double arena = 0;    ///< Memory that a snapshot holds.
    double horizon = 0;  ///< A grant of steps: before and after training, in a pause, while a hook or a save holds it.
    double total() const { return input + peers + room + arena + horizon; }
    friend bool operator==(const waits&, const waits&) = default;
  } waiting_seconds = {};
  int64_t messages = 0;     ///< Handled.
  int64_t bytes = 0;        ///< Of the tensors in them.
  int64_t queued = 0;       ///< Batches that have arrived and are not used yet.
  int64_t queued_max = 0;   ///< The most since the actor was started.
  int64_t mailbox = 0;      ///< Messages that had arrived and were not handled when it answered.
  int64_t mailbox_max = 0;  ///< The most since the actor was started.

  double seconds() const { return busy_seconds + waiting_seconds.total(); }
  friend bool operator==(const actor_report&, const actor_report&) = default;
};

/// From the start of each actor, or between two reports (`since`). A node that is started anew begins again at 0.
struct job_report {
  double seconds = 0;  ///< Since the job started, or between the reports.
  int64_t step = 0;    ///< The state that was reached.
  std::vector<actor_report> actors = {};
  friend bool operator==(const job_report&, const job_report&) = default;
};

/// What came after `earlier`, actor by actor; queues and mailboxes are those of `later`. An actor that was started
/// meanwhile is there with all of its time.
TROUPE_API job_report since(const job_report& later, const job_report& earlier);

/// One sentence that names what the replicas that train lack most, and who could give it: "The data bound the job:
/// replicas wait for batches 61 % of the time, and infeed/0 is at work 97 % of it."
TROUPE_API std::string bound_by(const job_report& r);

/// A table of shares in percent, and what bounds the job. Its form may change.
TROUPE_API std::string to_text(const job_report& r);
/// One JSON object: the fields by name, and "bound_by".
TROUPE_API std::string to_json(const job_report& r);
/// The text format of Prometheus: "troupe_actor_busy_seconds_total{actor="replica/0"} 12.5" and so on.
TROUPE_API std::string to_prometheus(const job_report& r);

}  // namespace troupe
