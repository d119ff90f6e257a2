// The summary writer: one open event file.
#pragma once

#include "messages/interfaces.hpp"
#include "storage/events/event_log.hpp"

#include <caf/actor_clock.hpp>

namespace troupe {

struct summary_writer_options {
  std::string name = "summary_writer";
  std::shared_ptr<file_system> files;
  std::string directory;
  std::shared_ptr<const directory_claim> claim;  ///< Whose the directory is; may be null.
  std::string host = "localhost";             ///< In the file's name.
  double wall_offset = 0;                     ///< Seconds since the epoch when the actor clock stood at 0.
  int64_t window = record_window;                        ///< Credit: records it has room for.
  bool of_evaluations = false;                ///< Each record is on its way to the disk at once: nobody would make an evaluation again whose result was told.
  int64_t unflushed_bytes_max = int64_t{256} << 10;
  std::chrono::milliseconds flush_period{2'000};
};

/// Writes the event file of one directory, made with the first word that comes. On its way to the disk at the latest two
/// seconds later, in whole records; at once where the options say so, and before a part of a snapshot is passed on. What cannot be written is a `failure`, once; what follows is dropped, so that nobody waits for room.
struct summary_writer_state {
  static inline const char* name = "summary_writer";
  summary_writer_actor::stateful_pointer<summary_writer_state> self = nullptr;
  summary_writer_options options;
  failure_sink_actor driver;
  part_sink_actor parts;

  std::unique_ptr<event_log_writer> log;
  bool failed = false;
  bool flush_planned = false;

  void on_record(const record& x);
  void on_note(const note& x);
  void on_part(const snapshot_part& x);
  void write(log_event event);
  void flush();
  void fail_with(error cause);
  double wall_time();
};

summary_writer_actor::behavior_type summary_writer(summary_writer_actor::stateful_pointer<summary_writer_state> self,
                                                   summary_writer_options options, failure_sink_actor driver);

}  // namespace troupe
