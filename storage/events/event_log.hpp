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

/// START: values of an earlier run at this step and beyond no longer count. CHECKPOINT: one was committed.
struct session_note {
  enum class kind : uint8_t { start = 1, stop = 2, checkpoint = 3 };
  kind what = kind::start;
  std::string checkpoint_path = {};
  std::string message = {};
};

/// What an event may have instead: for TensorBoard's pages of graphs and profiles, or for the log.
struct event_attachment {
  enum class kind : uint8_t { graph, meta_graph, run_metadata, message };
  kind what = kind::graph;
  std::string name = {};                      ///< run_metadata: its tag; message: its text.
  std::string bytes = {};                     ///< graph: a GraphDef.
  int64_t nodes = 0;                          ///< graph.
};

/// A version, values, a note or an attachment: the format allows one of the four.
struct log_event {
  double wall_time = 0;                       ///< Seconds since the epoch.
  int64_t step = 0;
  std::string file_version = {};              ///< In the first event of a file only.
  std::vector<summary_value> values = {};
  std::vector<event_value> others = {};       ///< Values that are no summaries.
  std::optional<session_note> note = {};
  std::optional<event_attachment> attachment = {};  ///< Only graphs can be written.
};

struct event_log_options {
  std::string host = "localhost";
  double wall_time = 0;                       ///< For the version event and the file name.
  std::shared_ptr<const directory_claim> claim = nullptr;  ///< Checked before the directory is made and
                                                           ///<   before each flush; may be null.
};

/// Owns one new file. Records are buffered in memory; only whole ones are handed to the file system.
class event_log_writer {
 public:
  /// Creates the directory, and in it "events.out.tfevents.<10-digit seconds>.<host>": a new name that sorts after the
  /// existing event files (TensorBoard reads them in that order); if the clock stands still or went back, the seconds
  /// are one more than those of the last file. The version event is written at once.
  /// invalid_argument: a host with '/', a wall_time without exactly ten digits; else errors of the claim and the file
  /// system.
  static expected<std::unique_ptr<event_log_writer>> create(std::shared_ptr<file_system> files, std::string directory,
                                                            event_log_options options);
  ~event_log_writer();  ///< Records that are not flushed are lost.

  /// invalid_argument: an image of an invalid shape, a text or tag that is not UTF-8, an empty tag, a histogram with
  /// more or fewer limits than counts, another value of several texts or without a plugin, a file version, an attachment that is no
  /// graph, two of values, note and attachment; the event then leaves nothing behind.
  expected<void> add(const log_event& event);
  /// Hands all whole records to the file system in one append. A failure may have left half a record, after which
  /// nothing could be read: every later call returns the same error, and a new writer makes a new file.
  /// Where somebody has removed, replaced or truncated the file, the records go to a new one, and there is a remark.
  expected<void> flush();
  expected<void> close();  ///< Flushes, syncs the file and its name. Later calls report that it is closed (state).

  const std::string& path() const noexcept;
  int64_t unflushed_bytes() const noexcept;
  /// That the file was lost and another one made, once for each time.
  std::optional<std::string> take_remark();

 private:
  struct impl;
  explicit event_log_writer(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

/// How the reading of a file ended: at its end, at the first damage (data_loss with offset and reason), or at a torn last record, which is
/// `truncated` and no damage: a writer may still be writing it.
struct event_log_reading {
  int64_t events = 0;                         ///< Whole ones, all of which were handed over.
  int64_t bytes_read = 0;                     ///< Where the first incomplete record begins.
  bool truncated = false;
  std::optional<error> damage;
};
/// Hands over the events in their order. One at a time is in memory, whatever the size of the file; lengths are checked against the file
/// before memory is allocated. Every value is there: what no summary is, is among the others and says what it is. Errors: not_found,
/// unavailable; everything else is in the result.
expected<event_log_reading> read_event_log(file_system& files, const std::string& path, const std::function<void(log_event)>& take);

/// Paths of the event files of a directory, in the order in which they were written; empty if there are none, or no
/// such directory.
expected<std::vector<std::string>> list_event_logs(file_system& files, const std::string& directory);

}  // namespace troupe
