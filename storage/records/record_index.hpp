// The places of the records in an uncompressed file, so that they can be read in any order. Uses bounded memory for any
// number of records.
#pragma once

#include "storage/files/file_system.hpp"

namespace troupe {

class record_index {
 public:
  /// Reads only the headers, so the checksums of payloads are not yet verified. At most `places_max` places of 8 bytes
  /// are kept. If there are more records, only every second place is kept, then every fourth, and so on; `read` then
  /// reads headers from the nearest place before. Errors: data_loss as for a reader.
  static expected<record_index> of(const readable_file& file, std::string path, int64_t places_max);

  int64_t records() const noexcept { return records_; }
  /// Reads a record of the file into `payload`. `file` may be a new handle of the same file. Error: data_loss.
  expected<void> read(const readable_file& file, int64_t record, std::string& payload);

 private:
  struct place {
    int64_t offset = 0;  ///< Offset of the payload.
    int64_t bytes = 0;
  };

  explicit record_index(std::string path) : path_(std::move(path)) {}
  expected<place> find(const readable_file& file, int64_t record) const;
  expected<place> place_at(const readable_file& file, int64_t offset, int64_t record) const;

  std::string path_;
  std::vector<int64_t> kept_;  ///< The offset of every `stride_`-th record.
  int64_t stride_ = 1;
  int64_t records_ = 0;
  int64_t end_ = 0;  ///< Offset after the last record.
  /// The record after the one that was read last, so that reading in order needs no search.
  int64_t next_record_ = 0, next_offset_ = 0;
};

}  // namespace troupe
