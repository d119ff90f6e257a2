// TFRecord files, the examples (tf.Example) that they usually contain, and datasets of them.
// Not needed to begin with.
//
//   auto file = tr::record_writer::create("train.tfrecord.gz", tr::compression::gzip);
//   auto bytes = tr::encode_example({{{"label", std::vector<int64_t>{7}}}});
//   if (auto ok = file->write(*bytes); !ok) ...
//   if (auto ok = file->close(); !ok) ...
//
// docs/record_format.md describes the format.
#pragma once

#include <troupe/dataset.hpp>

#include <memory>
#include <variant>

namespace troupe {

/// Compression of a whole file, as one stream. Readers do not detect it; they must be told.
enum class compression : uint8_t { none, zlib, gzip };
TROUPE_API std::string_view to_string(compression how) noexcept;

using byte_strings = std::vector<std::string>;

/// Named features, each a list of one kind. std::monostate: a feature without a kind, which the format allows.
struct example {
  using feature = std::variant<std::monostate, byte_strings, std::vector<float>, std::vector<int64_t>>;
  std::map<std::string, feature> features = {};
  friend bool operator==(const example&, const example&) = default;
};
/// The bytes of an example; equal examples give equal bytes, in every process. invalid_argument: a name that is not
/// UTF-8, or more than 2 GiB.
TROUPE_API expected<std::string> encode_example(const example& x);
/// data_loss: not an example.
TROUPE_API expected<example> decode_example(std::string_view bytes);

/// Writes one file; used by one thread at a time. Memory does not grow with the number of records. Moved from, it gives
/// `state` errors.
class TROUPE_API record_writer {
 public:
  /// Replaces an existing file; the directory must exist. not_found, failed_precondition, resource_exhausted,
  /// unavailable.
  static expected<record_writer> create(const std::string& path, compression how = compression::none);
  ~record_writer();  ///< Without `close`, the last records may be missing, and a compressed file is truncated.
  record_writer(record_writer&&) noexcept;
  record_writer& operator=(record_writer&&) noexcept;

  /// Writes one record of any bytes, possibly none. After an error every later call returns the same error.
  expected<void> write(std::string_view record);
  /// Completes the file and makes it durable. Later calls are a `state` error. failed_precondition: another program has
  /// removed, replaced or truncated the file.
  expected<void> close();

 private:
  struct impl;
  explicit record_writer(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

/// Reads one file from beginning to end; used by one thread at a time. A damaged length does not cause a large
/// allocation: memory grows only with the bytes that are there. Moved from, it gives `state` errors.
class TROUPE_API record_reader {
 public:
  /// not_found, failed_precondition, resource_exhausted, unavailable.
  static expected<record_reader> open(const std::string& path, compression how = compression::none);
  ~record_reader();
  record_reader(record_reader&&) noexcept;
  record_reader& operator=(record_reader&&) noexcept;

  /// The next record; absent at the end. data_loss naming the file, the offset and the fault: a checksum, a truncated
  /// file, or another compression. Every later call returns the same error.
  expected<std::optional<std::string>> next();
  /// Offset of the next record in the decompressed content, in bytes.
  int64_t offset() const noexcept;

 private:
  struct impl;
  explicit record_reader(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

struct tfrecord_options {
  /// What to read from each example: float32 from a list of floats, int32 and int64 from a list of integers, uint8 from
  /// one byte string. Every example must have each of them with exactly `dims.elements()` values, and may have others.
  std::vector<component> features = {};
  std::vector<component> labels = {};
  troupe::compression compression = {};  ///< `none` unless said.
};
/// Opens record files of examples (tf.Example), read one after the other. Uncompressed files are indexed here, header
/// by header (8 bytes of memory for each record, 8 MiB at most), and can be read in any order and shuffled. Compressed
/// files can only be streamed: they cannot be shuffled, and resuming decompresses again what was read before. Errors:
/// invalid_argument (no path, no feature, a repeated name, a dtype that examples do not hold), not_found, data_loss (a
/// truncated or damaged file). Examples are checked when they are read; an error names file, record and feature, what
/// was found and what was expected.
TROUPE_API expected<dataset> open_tfrecord(const std::vector<std::string>& paths, tfrecord_options options);

}  // namespace troupe
