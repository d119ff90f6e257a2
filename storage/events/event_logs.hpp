// Event files in several directories, with a bounded number of them open.
#pragma once

#include "storage/events/event_log.hpp"

#include <map>

namespace troupe {

struct event_logs_options {
  std::string host = "localhost";
  std::shared_ptr<const directory_claim> claim = nullptr;  ///< May be null.
  size_t open_max = 64;                                    ///< Files that are open at the same time; at least 1.
};

/// One `event_log_writer` for each directory that has something to record. Where more than `open_max` files would stay
/// open, those that were used least recently are closed until they have more to write.
class event_logs {
 public:
  event_logs(std::shared_ptr<file_system> files, event_logs_options options);

  /// Adds an event to the file of a directory. The first one creates both, and follows `beginning`, if that is set.
  /// Errors: those of `event_log_writer`.
  expected<void> add(const std::string& directory, const log_event& event);
  /// Each file that is created later begins with this event.
  void begin_with(log_event event) { beginning_ = std::move(event); }
  expected<void> flush();
  expected<void> close();  ///< Of all files. Nothing may be added later.

  int64_t unflushed_bytes() const noexcept { return unflushed_; }
  std::vector<std::string> take_remarks();  ///< Of all files, see `event_log_writer::take_remark`.

 private:
  struct entry {
    std::unique_ptr<event_log_writer> log;
    uint64_t used = 0;  ///< Grows with each use.
  };
  expected<entry*> entry_of(const std::string& directory, double wall_time);
  expected<void> add_to(entry& to, const log_event& event);
  expected<void> release_least_used();

  std::shared_ptr<file_system> files_;
  event_logs_options options_;
  std::optional<log_event> beginning_;
  std::map<std::string, entry> all_;  ///< By directory.
  uint64_t uses_ = 0;
  int64_t unflushed_ = 0;
};

}  // namespace troupe
