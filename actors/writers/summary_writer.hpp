// The summary writer: event files of a job, or of an evaluation.
#pragma once

#include "messages/interfaces.hpp"
#include "storage/events/event_logs.hpp"
#include "words/run_port.hpp"

#include <caf/actor_clock.hpp>

namespace troupe {

struct summary_writer_options {
  node_id id{};
  std::string name = "summary_writer";
  std::shared_ptr<file_system> files;
  std::string directory;    ///< The model directory.
  std::string folder = {};  ///< Where event files are in a directory: "eval_test"; empty: in the directory itself.
  std::shared_ptr<const directory_claim> claim;  ///< Shows whether the directory is still this job's; may be null.
  std::string host = "localhost";                ///< Part of the file's name.
  double wall_offset = 0;                        ///< Unix time, in seconds, at which the actor clock was 0.
  int64_t credit = initial_record_credit;        ///< Credit: the number of records for which there is room.
  /// Each record is flushed at once, because a published evaluation is not repeated.
  bool of_evaluations = false;
  /// Records are kept until the note of the start arrives, which precedes them in the file.
  bool awaits_start = false;
  bool notes_end = false;               ///< The last event is a STOP note.
  std::shared_ptr<run_port> port = {};  ///< Has values of the program, which are written with what comes next; or null.
  int64_t unflushed_bytes_max = int64_t{256} << 10;
  std::chrono::milliseconds flush_period{2'000};
};

/// Writes the event files of the model directory, and of the directories below it that records name. A file is created
/// at the first event for it; those of training all begin with the note of the start. Whole records are handed to the
/// system at most two seconds later, or at once if the options say so, and always before a part of a snapshot is passed
/// on. If an event file was removed, replaced or truncated from outside, the writer reports `log_replaced` and
/// continues in a new file. The first write that fails is reported as a `failure`; later records are dropped, so that
/// no sender waits for room.
struct summary_writer_state {
  static inline const char* name = "summary_writer";
  summary_writer_actor::stateful_pointer<summary_writer_state> self = nullptr;
  summary_writer_options options;
  activity spent;  ///< See counted.hpp.
  log_listener_actor driver;
  part_sink_actor parts;

  std::optional<event_logs> logs;
  bool failed = false;
  bool flush_planned = false;
  std::optional<int64_t> newest;  ///< The step of the newest record.
  struct early_record {
    record what;
    record_source_actor from;
  };
  /// Records that arrived before the note of the start; at most as many as their credit.
  std::vector<early_record> early;

  void on_record(const early_record& x);
  void on_note(const note& x);
  void on_part(const snapshot_part& x);
  void take_values();
  void write(const std::string& directory, log_event event);  ///< See record_part::directory.
  void flush();
  void fail_with(error cause);
  double wall_time();
};

summary_writer_actor::behavior_type summary_writer(summary_writer_actor::stateful_pointer<summary_writer_state> self,
                                                   summary_writer_options options, log_listener_actor driver);

}  // namespace troupe
