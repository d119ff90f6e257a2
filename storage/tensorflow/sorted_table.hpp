// Sorted string tables in LevelDB's file format: keys and values, ordered by the bytes of the keys, in blocks with
// checksums. TensorFlow stores the index of a checkpoint in such a table.
//
//   block*  metaindex block  index block  footer
//   each block: contents, a byte (0: as it is, 1: Snappy), masked CRC-32C of both
//   contents: (shared, added, value length, added bytes of the key, value)*, restarts, their number
//   footer: the places of the metaindex and the index, zeros up to 40 bytes, a magic number
//
// Tables are read and written as a whole: an index has about 100 bytes for each tensor. Byte layout:
// docs/tensorflow_format.md.
#pragma once

#include "storage/files/file_system.hpp"

namespace troupe {

struct table_entry {
  std::string key, value;
  friend bool operator==(const table_entry&, const table_entry&) = default;
};

struct table_options {
  size_t block_bytes = size_t{1} << 18;  ///< A block is closed when it has this many bytes, as in TensorFlow.
  int restart_every = 16;                ///< A key is stored in full after this many entries.
};

/// The bytes of an uncompressed table. Keys must be in ascending order without duplicates (asserted).
std::string write_sorted_table(std::span<const table_entry> entries, const table_options& options = {});

/// The entries of a whole table. Checksums cover every byte of a block, keys must ascend, and the decoded size is
/// limited to a multiple of the file's size. Errors: data_loss naming the file, the offset and the problem;
/// unimplemented: another compression.
expected<std::vector<table_entry>> read_sorted_table(const readable_file& file, const std::string& path);

}  // namespace troupe
