// Predictions as files for other programs: comma-separated values, JSON lines, or NumPy arrays.
// Not needed to begin with.
//
//   auto file = tr::prediction_file::create("classes.csv", tr::prediction_format::csv);
//   for (const auto& one : *predictions) ... file->write(one) ...
//   auto done = file->finish();                             // Only now classes.csv exists.
#pragma once

#include <troupe/predict.hpp>

namespace troupe {

enum class prediction_format : uint8_t {
  csv,    ///< A line of names, then one line for each result (RFC 4180, but lines end in '\n'). Each element of a
          ///< tensor has a column: "probabilities_0", ...; with two axes "x_0_0".
  jsonl,  ///< One object for each result. Tensors are nested lists, scalars numbers; null if not finite.
  npy,    ///< A directory with `<key>.npy` for each key, of shape [results, ...], and no other such file: those of an
          ///< earlier run with the same keys are replaced. '/' in a key is '_' in its name. Words are left out.
};
TROUPE_API std::string_view to_string(prediction_format f) noexcept;

/// The header line, and the line of one result, both with the newline. Floating numbers have as many digits as
/// distinguish them from neighbouring values of their dtype.
TROUPE_API std::string csv_header(const prediction& one);
TROUPE_API std::string csv_line(const prediction& one);
TROUPE_API std::string json_line(const prediction& one);

/// A file of predictions, written by one thread at a time. All results have the names, dtypes, shapes and numbers of
/// words of the first, so whole batches, of which the last may be smaller, are not for such a file. Moved from, it
/// gives `state` errors.
class TROUPE_API prediction_file {
 public:
  /// For npy, `path` is a directory, which is created if missing. For the others it is a file or a symbolic link to
  /// one, which is replaced, or a device or pipe, which is written as results come. Errors: not_found,
  /// failed_precondition, resource_exhausted, each with path and operation.
  static expected<prediction_file> create(const std::string& path, prediction_format format);
  /// Whether `path` is a device, a pipe or a socket. Then `create` blocks until a pipe has a reader, `write` blocks
  /// while the reader is slow, and there is no file to remove.
  static bool is_stream(const std::string& path);
  prediction_file(prediction_file&&) noexcept;
  prediction_file& operator=(prediction_file&&) noexcept;
  /// Without `finish`, discards what was written (a new npy directory remains).
  ~prediction_file();

  /// Adds a result, all or nothing of it. invalid_argument, naming the key: a value's dtype or shape or a text's number
  /// of words differs from the first result's, one of them has a key that the other lacks, or two keys have one name in
  /// npy. failed_precondition, naming the file: an npy file in the directory is of no key. After these, other results
  /// can still be added. After an error of the disk, which every later call returns too, the file cannot be finished.
  expected<void> write(const prediction& one);
  /// Makes the bytes durable, then gives the files their names, all or none, so that a file that exists is complete.
  /// Without any result a text file is empty, and no npy file exists. This must be the last call.
  expected<void> finish();

  struct impl;
  explicit prediction_file(std::unique_ptr<impl> i);

 private:
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe
