// Event files in TensorBoard's format: framed records of protobuf events, the first of which says "brain.Event:2".
//
//   auto log = event_log_writer::create(files, "runs/fashion", {.host = "node", .wall_time = now});
//   (*log)->add({.wall_time = now, .step = 100, .values = {{.tag = "loss", .scalar = 0.3}}});
//   (*log)->flush();
//
// Byte layout: docs/event_format.md.
#pragma once

#include "storage/files/directory_claim.hpp"

#include <troupe/event_value.hpp>
#include <troupe/summary.hpp>

#include <functional>

namespace troupe {

inline constexpr std::string_view event_file_prefix = "events.out.tfevents.";

/// START: values of earlier runs at this step or later are no longer valid. CHECKPOINT: a checkpoint was committed.
struct session_note {
  enum class kind : uint8_t { start = 1, stop = 2, checkpoint = 3 };
  kind what = kind::start;
  std::string checkpoint_path = {};
  std::string message = {};
};

/// Other content of an event: for TensorBoard's graph and profile pages, or a log message.
struct event_attachment {
  enum class kind : uint8_t { graph, meta_graph, run_metadata, message };
  kind what = kind::graph;
  std::string name = {};   ///< For run_metadata, its tag; for message, its text.
  std::string bytes = {};  ///< For graph, a GraphDef.
  int64_t nodes = 0;       ///< For graph, the number of its nodes.
};

/// One event: a version, values, a note or an attachment. The format allows only one of the four.
struct log_event {
  double wall_time = 0;  ///< Seconds since the epoch.
  int64_t step = 0;
  std::string file_version = {};  ///< Set only in the first event of a file.
  std::vector<summary_value> values = {};
  std::vector<event_value> others = {};  ///< Values that are not summaries.
  std::optional<session_note> note = {};
  std::optional<event_attachment> attachment = {};  ///< The writer accepts only graphs.
};

struct event_log_options {
  std::string host = "localhost";
  double wall_time = 0;  ///< Time for the version event and the file name, in seconds since the epoch.
  /// Checked before the directory is created and before each flush; may be null.
  std::shared_ptr<const directory_claim> claim = nullptr;
};

/// Owns one new file. Records are buffered in memory; only whole records are passed to the file system.
class event_log_writer {
 public:
  /// Creates the directory if it is missing, and in it a new file "events.out.tfevents.<10-digit seconds>.<host>". The
  /// name sorts after all existing event files, since TensorBoard reads them in that order: if the clock did not
  /// advance or went back, the seconds are those of the last file plus one. The version event is written at once.
  /// Errors: invalid_argument for a host with '/', an empty host, or a wall_time below 0 or of more than ten digits;
  /// errors of the claim and the file system.
  static expected<std::unique_ptr<event_log_writer>> create(std::shared_ptr<file_system> files, std::string directory,
                                                            event_log_options options);
  ~event_log_writer();  ///< Records that were not flushed are lost.

  /// Error: invalid_argument; nothing of the event is then written. Reasons: an image of an invalid shape, a text or
  /// tag that is not UTF-8, an empty tag, a histogram whose limits and counts differ in number, a value in `others`
  /// with several texts or without a plugin, an event with a file version (the writer makes that one), an attachment
  /// that is not a graph, or more than one of values, note and attachment.
  expected<void> add(const log_event& event);
  /// Writes all whole records with one append. After a failure the file may end in half a record, behind which nothing
  /// can be read: every later call returns the same error, and only a new writer with a new file helps. If somebody has
  /// removed, replaced or truncated the file, the records go to a new file, and there is a remark.
  expected<void> flush();
  /// Flushes, and closes the file until there is more to write, so that many writers need few open files. A file that
  /// somebody changes meanwhile is treated as one that was replaced.
  expected<void> release();
  expected<void> close();  ///< Flushes, and syncs the file and its name. Later calls return an error (state).

  const std::string& path() const noexcept;
  bool is_released() const noexcept;
  int64_t unflushed_bytes() const noexcept;
  /// A remark, each time that the file was lost and a new one was made; absent if there is none.
  std::optional<std::string> take_remark();

 private:
  struct impl;
  explicit event_log_writer(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

/// How the reading of a file ended: at its end, at the first damage (data_loss with offset and reason), or at an
/// incomplete last record. The last sets `truncated` and is not damage: a writer may still be writing that record.
struct event_log_reading {
  int64_t events = 0;      ///< Number of whole records; all were passed on.
  int64_t bytes_read = 0;  ///< Where the first incomplete record begins.
  bool truncated = false;
  std::optional<error> damage;
};
/// Calls `take` with each event, in order. Only one event is in memory at a time; lengths are checked against the file
/// before memory is allocated. No value is dropped: those that are not summaries are in `others`, with a text that says
/// what they are. Errors: not_found, unavailable; all others are in the result.
expected<event_log_reading> read_event_log(file_system& files, const std::string& path,
                                           const std::function<void(log_event)>& take);

/// The paths of a directory's event files, in the order in which they were written. Empty if there are none, or no such
/// directory.
expected<std::vector<std::string>> list_event_logs(file_system& files, const std::string& directory);

}  // namespace troupe
