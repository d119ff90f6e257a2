// Event files in TensorBoard's format: framed records of protobuf events, the first of which says "brain.Event:2".
//
//   auto log = event_log_writer::create(files, "runs/fashion", {.host = "node", .wall_time = now});
//   (*log)->add({.wall_time = now, .step = 100, .values = {{.tag = "loss", .scalar = 0.3}}});
//   (*log)->flush();
//
// docs/event_format.md has the bytes.
#pragma once

#include "storage/files/directory_claim.hpp"

#include <troupe/summary.hpp>

namespace troupe {

inline constexpr std::string_view event_file_prefix = "events.out.tfevents.";

/// START: what an earlier run wrote at this step and beyond no longer counts. CHECKPOINT: one was committed.
struct session_note {
  enum class kind : uint8_t { start = 1, stop = 2, checkpoint = 3 };
  kind what = kind::start;
  std::string checkpoint_path = {};
  std::string message = {};
};

/// A version, values or a note: one of the three, as the format has it.
struct log_event {
  double wall_time = 0;                       ///< Seconds since the epoch.
  int64_t step = 0;
  std::string file_version = {};              ///< Of the first event of a file only.
  std::vector<summary_value> values = {};
  std::optional<session_note> note = {};
};

struct event_log_options {
  std::string host = "localhost";
  double wall_time = 0;                       ///< Of the version event, and of the name.
  std::shared_ptr<const directory_claim> claim = nullptr;  ///< Asked before the directory is made and before each flush; may be null.
};

/// Owns one new file. Records are gathered in memory; only whole ones are ever handed to the file system.
class event_log_writer {
 public:
  /// Creates the directory, and in it "events.out.tfevents.<10-digit seconds>.<host>": a name nobody has, which sorts after
  /// the event files that are there (TensorBoard reads them in that order); where the clock stands still or went back, its
  /// second is the one after the last file's. The version event is in the file at once.
  /// invalid_argument: a host with '/', a wall_time that has no ten digits; else what the claim and the file system say.
  static expected<std::unique_ptr<event_log_writer>> create(std::shared_ptr<file_system> files, std::string directory,
                                                            event_log_options options);
  ~event_log_writer();  ///< Records that are not flushed are lost.

  /// invalid_argument: an image of a shape that is none, a text or tag that is not UTF-8, an empty tag, a histogram with
  /// more limits than counts or fewer, a file version, values beside a note; the event then leaves nothing behind.
  expected<void> add(const log_event& event);
  /// Hands all whole records to the file system in one append. When that fails it may have left half a record, behind
  /// which nothing could be read: every later call returns the same error, and a new writer makes a new file.
  expected<void> flush();
  expected<void> close();  ///< Flushes, syncs the file and its name. Later calls say that it is closed (state).

  const std::string& path() const noexcept;
  int64_t unflushed_bytes() const noexcept;

 private:
  struct impl;
  explicit event_log_writer(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

/// What is readable of a file: all whole events up to the first damage, and what that is (data_loss with offset and
/// reason). A torn last record is `truncated`, not damage: a writer may still be at it.
struct event_log {
  std::vector<log_event> events;
  int64_t bytes_read = 0;                     ///< Where the first record that is not whole begins.
  bool truncated = false;
  std::optional<error> damage;
};
/// Values of kinds that are not ours (graphs, JPEGs, tensors of plugins) are left out. Lengths are checked against the
/// file before memory is taken for them. Errors: not_found, unavailable; everything else is in the result.
expected<event_log> read_event_log(file_system& files, const std::string& path);

/// Paths of the event files of a directory, in the order in which they were written; empty where there is none, or
/// no such directory.
expected<std::vector<std::string>> list_event_logs(file_system& files, const std::string& directory);

}  // namespace troupe
