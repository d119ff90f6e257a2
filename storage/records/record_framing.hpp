// Framing of records in event files and TFRecords: an 8-byte little-endian length, the masked CRC-32C of these 8 bytes,
// the payload, and the masked CRC-32C of the payload. Byte layout: docs/record_format.md.
#pragma once

#include "storage/files/byte_source.hpp"

namespace troupe {

inline constexpr int64_t record_header_bytes = 12;
inline constexpr int64_t record_footer_bytes = 4;

uint32_t masked_crc32c(std::string_view bytes) noexcept;

/// Appends a whole record.
void append_record(std::string& to, std::string_view payload);
/// The same in two steps: append the payload between them. Pass the result of `begin_record` to `end_record`.
size_t begin_record(std::string& to);
void end_record(std::string& to, size_t begin);

/// The payload's length according to a record's header; absent if the header's checksum is wrong.
std::optional<uint64_t> record_length(std::span<const std::byte, record_header_bytes> header) noexcept;

/// Reads records in order. Its memory is limited by the data that exist, whatever length a header gives.
class record_parser {
 public:
  /// `from` must outlive the parser; `path` is for messages.
  record_parser(byte_source& from, std::string path) : from_(from), path_(std::move(path)) {}

  /// The next payload, valid until the next call; absent at the end. Error: data_loss naming the record's offset (in
  /// the decompressed content) and the problem; every later call returns the same error.
  expected<std::optional<std::string_view>> next();
  /// The offset of the next record; after an error, of the damaged or incomplete record.
  int64_t offset() const noexcept { return offset_; }
  /// Whether the error is that the content ends within a record whose length is sound. A writer may still be writing
  /// that record.
  bool torn() const noexcept { return torn_; }

 private:
  expected<std::optional<std::string_view>> parse();
  expected<void> read_payload(uint64_t length);
  error damaged(const std::string& reason) const;
  error cut_off(const std::string& wanted, const std::string& found);

  byte_source& from_;
  std::string path_;
  std::string payload_;  ///< Includes the checksum while it is being read.
  int64_t offset_ = 0;
  bool torn_ = false;
  std::optional<error> failed_;
};

}  // namespace troupe
