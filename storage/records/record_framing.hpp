// Record framing of event files and TFRecords: an 8-byte little-endian length, the masked CRC-32C of those 8 bytes, the
// payload, the masked CRC-32C of the payload. docs/record_format.md.
#pragma once

#include "storage/files/byte_source.hpp"

namespace troupe {

inline constexpr int64_t record_header_bytes = 12;
inline constexpr int64_t record_footer_bytes = 4;

uint32_t masked_crc32c(std::string_view bytes) noexcept;

/// Appends a whole record.
void append_record(std::string& to, std::string_view payload);
/// The same in two halves, around code that appends the payload: pass `end_record` the result of `begin_record`.
size_t begin_record(std::string& to);
void end_record(std::string& to, size_t begin);

/// The payload length in a header; absent when its checksum is wrong.
std::optional<uint64_t> record_length(std::span<const std::byte, record_header_bytes> header) noexcept;

/// Reads records in order. Its memory is bounded by the data that exist, whatever a length says.
class record_parser {
 public:
  /// `from` must outlive it; `path` is for messages.
  record_parser(byte_source& from, std::string path) : from_(from), path_(std::move(path)) {}

  /// The next payload, valid until the next call; absent at the end. data_loss naming the record's offset (in the
  /// decompressed content) and what is wrong; every later call returns that error again.
  expected<std::optional<std::string_view>> next();
  /// Where the next record begins; after an error, the damaged or incomplete one.
  int64_t offset() const noexcept { return offset_; }
  /// Whether the error is a content that ends within a record of sound length: a writer may still be writing it.
  bool torn() const noexcept { return torn_; }

 private:
  expected<std::optional<std::string_view>> parse();
  expected<void> read_payload(uint64_t length);
  error damaged(const std::string& reason) const;
  error cut_off(const std::string& wanted, const std::string& found);

  byte_source& from_;
  std::string path_;
  std::string payload_;  ///< With its checksum, while it is being read.
  int64_t offset_ = 0;
  bool torn_ = false;
  std::optional<error> failed_;
};

}  // namespace troupe
