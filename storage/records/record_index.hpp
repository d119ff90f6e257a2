// Where the records of an uncompressed file lie, so that they can be read in any order. Its memory is bounded whatever their number.
#pragma once

#include "storage/files/file_system.hpp"

namespace troupe {

class record_index {
 public:
  /// Reads the headers alone, so checksums of payloads are still to be verified. At most `places_max` places of 8 bytes are kept: of more
  /// records every second one, every fourth, and so on, between which headers are read again. data_loss as from a reader.
  static expected<record_index> of(const readable_file& file, std::string path, int64_t places_max);

  int64_t records() const noexcept { return records_; }
  /// Replaces `payload` by a record of the file, which may have been opened again. data_loss.
  expected<void> read(const readable_file& file, int64_t record, std::string& payload);

 private:
  struct place {
    int64_t offset = 0;  ///< Of the payload.
    int64_t bytes = 0;
  };

  explicit record_index(std::string path) : path_(std::move(path)) {}
  expected<place> find(const readable_file& file, int64_t record) const;
  expected<place> place_at(const readable_file& file, int64_t offset, int64_t record) const;

  std::string path_;
  std::vector<int64_t> kept_;  ///< Where every `stride_`-th record begins.
  int64_t stride_ = 1;
  int64_t records_ = 0;
  int64_t end_ = 0;  ///< Behind the last record.
  int64_t next_record_ = 0, next_offset_ = 0;  ///< Behind the record that was read last: reading in order looks for nothing.
};

}  // namespace troupe
