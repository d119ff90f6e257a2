// A file that a user names for what a command writes. It grows under a temporary name and gets its own when it is complete.
#pragma once

#include "storage/files/file_system.hpp"

namespace troupe {

/// Has a temporary name until `keep`; a device, a pipe or a socket is written as it is, since it cannot be replaced. Used by one thread at a time.
class output_file {
 public:
  static constexpr int64_t buffer_bytes = int64_t{1} << 20;

  /// The final name is `name`, or the end of its symbolic links. Waits for the reader of a pipe.
  static expected<output_file> create(std::shared_ptr<file_system> files, const std::string& name);
  output_file(output_file&&) noexcept = default;
  output_file& operator=(output_file&&) = delete;
  /// Unless kept, removes what was written.
  ~output_file();

  const std::string& path() const noexcept { return path_; }
  /// Whether it is a device, a pipe or a socket.
  bool is_stream() const noexcept { return name_.empty(); }
  expected<void> append(std::string_view bytes);
  expected<void> append(std::span<const std::byte> bytes) { return append({reinterpret_cast<const char*>(bytes.data()), bytes.size()}); }
  expected<void> flush();
  /// Makes all bytes durable after the last append; the file does not have its name yet. failed_precondition: its temporary name was removed, or
  /// taken by another file.
  expected<void> complete();
  /// After `complete`.
  expected<void> keep();
  /// After `keep`: makes the name durable too.
  expected<void> settle();
  /// All three, for a file that stands alone.
  expected<void> finish();

 private:
  output_file(std::shared_ptr<file_system> files, std::string path, std::string name, std::unique_ptr<writable_file> file)
    : files_(std::move(files)), path_(std::move(path)), name_(std::move(name)), file_(std::move(file)) {}

  std::shared_ptr<file_system> files_;
  std::string path_;
  std::string name_;  ///< Empty: the target is written directly, not replaced.
  std::unique_ptr<writable_file> file_;
  std::string buffer_;
};

}  // namespace troupe
