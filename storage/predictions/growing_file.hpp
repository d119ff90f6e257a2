// A file that grows under a temporary name and gets its own when it is complete.
#pragma once

#include "storage/files/file_system.hpp"

namespace troupe {

/// Has a temporary name until `keep`; a device or a pipe is written directly, since it cannot be renamed. Used by one thread at a time.
class growing_file {
 public:
  static constexpr int64_t buffer_bytes = int64_t{1} << 20;

  /// The final name is `name`, or the end of its symbolic links.
  static expected<growing_file> create(std::shared_ptr<file_system> files, const std::string& name);
  growing_file(growing_file&&) noexcept = default;
  growing_file& operator=(growing_file&&) = delete;
  /// Unless kept, removes what was written.
  ~growing_file();

  const std::string& path() const noexcept { return path_; }
  expected<void> append(std::string_view bytes);
  expected<void> flush();
  /// Makes all bytes durable after the last append; the file does not have its name yet.
  expected<void> complete();
  /// After `complete`.
  expected<void> keep();
  /// After `keep`: makes the name durable too.
  expected<void> settle();

 private:
  growing_file(std::shared_ptr<file_system> files, std::string path, std::string name, std::unique_ptr<writable_file> file)
    : files_(std::move(files)), path_(std::move(path)), name_(std::move(name)), file_(std::move(file)) {}

  std::shared_ptr<file_system> files_;
  std::string path_;
  std::string name_;  ///< Empty: the target is written directly, not replaced.
  std::unique_ptr<writable_file> file_;
  std::string buffer_;
};

}  // namespace troupe
