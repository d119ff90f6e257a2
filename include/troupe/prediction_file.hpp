// Predictions as files that other programs read: comma-separated values, JSON lines, or NumPy's arrays.
// Not needed to begin with.
//
//   auto file = tr::prediction_file::create("classes.csv", tr::prediction_format::csv);
//   for (const auto& one : *predictions) ... file->write(one) ...
//   auto done = file->finish();                             // Only now there is a classes.csv.
#pragma once

#include <troupe/predict.hpp>

namespace troupe {

enum class prediction_format : uint8_t {
  csv,    ///< A line of names, then one a result (RFC 4180, lines end in '\n'). The elements of a tensor have columns of
          ///< their own: "probabilities_0", ...; those of rank 2 "x_0_0".
  jsonl,  ///< One object a result. Tensors are nested lists, scalars numbers; what is not finite is null.
  npy,    ///< A directory with `<key>.npy` for every key, each of shape [results, ...]; texts are left out.
};
TROUPE_API std::string_view to_string(prediction_format f) noexcept;

/// The header line, and the line of one result, both with the newline. Floating numbers have as many digits as
/// distinguish them from their neighbours.
TROUPE_API std::string csv_header(const prediction& one);
TROUPE_API std::string csv_line(const prediction& one);
TROUPE_API std::string json_line(const prediction& one);

/// Used by one thread at a time. All results belong to one stream: every one has the names, dtypes and shapes of the
/// first.
class TROUPE_API prediction_file {
 public:
  /// `path` is, for npy, a directory, made where missing; otherwise a file, or a symbolic link to one, which is
  /// replaced, or a device or a pipe, which is written as results come. File errors: not_found, failed_precondition,
  /// resource_exhausted, each with path and operation.
  static expected<prediction_file> create(const std::string& path, prediction_format format);
  /// Whether `path` is a device, a pipe or a socket: `create` waits for the reader of a pipe, `write` for one that is slow, and there is nothing to
  /// remove.
  static bool is_stream(const std::string& path);
  prediction_file(prediction_file&&) noexcept;
  prediction_file& operator=(prediction_file&&) noexcept;
  /// Unless finished, leaves only what was there before (and a directory for npy).
  ~prediction_file();

  /// invalid_argument, naming the key, when its dtype or shape differs from the first result's.
  expected<void> write(const prediction& one);
  /// Makes the bytes durable, then gives them their name: a file that exists is complete. A npy directory gets its
  /// files once all are written, or none. Without any result a text file is empty, and there is no npy file. The last
  /// call.
  expected<void> finish();

  struct impl;
  explicit prediction_file(std::unique_ptr<impl> i);

 private:
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe
