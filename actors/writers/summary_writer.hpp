// The summary writer: one open event file.
#pragma once

#include "messages/interfaces.hpp"
#include "storage/events/event_log.hpp"

#include <caf/actor_clock.hpp>

namespace troupe {

struct summary_writer_options {
  node_id id{};
  std::string name = "summary_writer";
  std::shared_ptr<file_system> files;
  std::string directory;
  std::shared_ptr<const directory_claim> claim;  ///< Shows whether the directory is still this job's; may be null.
  std::string host = "localhost";             ///< Part of the file's name.
  double wall_offset = 0;                     ///< Unix time, in seconds, at which the actor clock was 0.
  int64_t window = record_window;                        ///< Credit: number of records it has room for.
  bool of_evaluations = false;                ///< Each record is flushed at once: a published evaluation is not repeated.
  bool awaits_start = false;                  ///< Records are kept until the note of the start has come, which precedes them in the file.
  int64_t unflushed_bytes_max = int64_t{256} << 10;
  std::chrono::milliseconds flush_period{2'000};
};

/// Writes the event file of one directory, which is created at the first message. Whole records are handed to the
/// system at most two seconds later; at once where the options say so, and before a part of a snapshot is passed on.
/// An event file that somebody removed, replaced or truncated is reported as `log_replaced`, and the records go on in a new one.
/// The first write that fails is reported as a `failure`; later records are dropped, so that no sender waits for room.
struct summary_writer_state {
  static inline const char* name = "summary_writer";
  summary_writer_actor::stateful_pointer<summary_writer_state> self = nullptr;
  summary_writer_options options;
  log_listener_actor driver;
  part_sink_actor parts;

  std::unique_ptr<event_log_writer> log;
  bool failed = false;
  bool flush_planned = false;
  std::optional<int64_t> newest;               ///< The step of the newest record.
  struct early_record {
    record what;
    record_source_actor from;
  };
  std::vector<early_record> early;             ///< Records that came before the start was noted, as many as their credit.

  void on_record(const early_record& x);
  void on_note(const note& x);
  void on_part(const snapshot_part& x);
  void write(log_event event);
  void flush();
  void fail_with(error cause);
  double wall_time();
};

summary_writer_actor::behavior_type summary_writer(summary_writer_actor::stateful_pointer<summary_writer_state> self,
                                                   summary_writer_options options, log_listener_actor driver);

}  // namespace troupe
