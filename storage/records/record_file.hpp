// Record files on any file system. Implements <troupe/tfrecord.hpp>.
#pragma once

#include "storage/records/record_framing.hpp"

namespace troupe {

class record_file_writer {
 public:
  virtual ~record_file_writer() = default;
  /// The contract is that of `record_writer`.
  virtual expected<void> write(std::string_view record) = 0;
  virtual expected<void> close() = 0;
};
expected<std::unique_ptr<record_file_writer>> create_record_file(std::shared_ptr<file_system> files,
                                                                 const std::string& path, compression how);

class record_file_reader {
 public:
  static expected<std::unique_ptr<record_file_reader>> open(file_system& files, const std::string& path,
                                                            compression how);

  /// The record is valid until the next call. Otherwise as in `record_reader`.
  expected<std::optional<std::string_view>> next() { return records_.next(); }
  int64_t offset() const noexcept { return records_.offset(); }

 private:
  record_file_reader(std::unique_ptr<readable_file> file, std::unique_ptr<byte_source> source, std::string path)
    : file_(std::move(file)), source_(std::move(source)), records_(*source_, std::move(path)) {}

  std::unique_ptr<readable_file> file_;
  std::unique_ptr<byte_source> source_;
  record_parser records_;
};

}  // namespace troupe
