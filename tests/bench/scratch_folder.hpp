// The folder that a benchmark writes to.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace troupe::bench {

/// A new folder in $TMPDIR, otherwise in ./build. The destructor removes it with its contents.
class scratch_folder {
 public:
  explicit scratch_folder(const std::string& name) {
    const char* given = std::getenv("TMPDIR");
    const std::filesystem::path base = given && *given ? given : std::filesystem::is_directory("build") ? "build" : ".";
    path_ = (base / (name + "." + std::to_string(::getpid()))).string();
    std::filesystem::create_directories(path_);
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace troupe::bench
