// A new directory that is removed with its contents.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace troupe::test {

struct temporary_directory {
  std::string path = (std::filesystem::temp_directory_path() / "troupe-test-XXXXXX").string();

  temporary_directory() {
    if (!mkdtemp(path.data()))
      throw std::runtime_error{"no temporary directory"};
  }
  ~temporary_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;

  std::string operator/(const std::string& name) const { return path + "/" + name; }
};

}  // namespace troupe::test
