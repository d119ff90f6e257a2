// Record files of numbered examples, on a file system in memory.
#pragma once

#include "input/sources/tfrecord_source.hpp"
#include "reading.hpp"
#include "storage/files/memory_file_system.hpp"
#include "storage/records/record_file.hpp"

namespace troupe {

inline std::string numbered_example(int64_t id) {
  return *encode_example({{{"id", std::vector<int64_t>{id}}, {"x", std::vector<float>{static_cast<float>(id), 0.5f}}}});
}

inline void write_records(const std::shared_ptr<file_system>& fs, const std::string& path,
                          const std::vector<std::string>& records, compression how) {
  auto file = create_record_file(fs, path, how);
  REQUIRE(file);
  for (const auto& r : records)
    REQUIRE((*file)->write(r));
  REQUIRE((*file)->close());
}

/// Writes files "0", "1" and so on, with `counts` examples each, numbered through all files.
inline dataset numbered_records(const std::vector<int64_t>& counts, compression how,
                                std::shared_ptr<file_system> fs = memory_file_system()) {
  std::vector<std::string> paths;
  int64_t id = 0;
  for (const int64_t count : counts) {
    std::vector<std::string> records;
    for (int64_t i = 0; i < count; ++i)
      records.push_back(numbered_example(id++));
    paths.push_back(std::to_string(paths.size()));
    write_records(fs, paths.back(), records, how);
  }
  auto data = input::tfrecord_dataset(fs, paths, {.features = {{"id", dtype::int64, {}}}, .compression = how});
  REQUIRE_MESSAGE(data, (data ? "" : to_text(data.error())));
  return *data;
}

}  // namespace troupe
