// A file that a command writes and a user has named. It has a temporary name until it is complete.
#pragma once

#include "storage/files/file_system.hpp"

namespace troupe {

/// Has a temporary name until `keep`. A device, a pipe or a socket is written directly, since it cannot be replaced.
/// Used by one thread at a time.
class output_file {
 public:
  static constexpr int64_t buffer_bytes = int64_t{1} << 20;

  /// The final name is `name`, or the end of its symbolic links. If that is a pipe, waits for its reader.
  static expected<output_file> create(std::shared_ptr<file_system> files, const std::string& name);
  output_file(output_file&&) noexcept = default;
  output_file& operator=(output_file&&) = delete;
  /// Removes the temporary file, if it was not kept.
  ~output_file();

  const std::string& path() const noexcept { return path_; }
  /// Whether the target is a device, a pipe or a socket.
  bool is_stream() const noexcept { return name_.empty(); }
  expected<void> append(std::string_view bytes);
  expected<void> append(std::span<const std::byte> bytes) {
    return append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  expected<void> flush();
  /// Call after the last append. Makes all bytes durable; the file still has its temporary name. Error:
  /// failed_precondition if that name was removed, or taken by another file.
  expected<void> complete();
  /// Call after `complete`. Renames the file to its final name.
  expected<void> keep();
  /// Call after `keep`. Makes the name durable.
  expected<void> settle();
  /// Does all three, for a file on its own.
  expected<void> finish();

 private:
  output_file(std::shared_ptr<file_system> files, std::string path, std::string name,
              std::unique_ptr<writable_file> file)
    : files_(std::move(files)), path_(std::move(path)), name_(std::move(name)), file_(std::move(file)) {}

  std::shared_ptr<file_system> files_;
  std::string path_;
  std::string name_;  ///< The final name. Empty: the target is written directly.
  std::unique_ptr<writable_file> file_;
  std::string buffer_;
};

}  // namespace troupe
