// Sorted string tables, in the format of LevelDB's files: keys and values in the order of the keys' bytes, in blocks with checksums.
// TensorFlow keeps the index of a checkpoint in one.
//
//   block*  metaindex block  index block  footer      each block: contents, a byte (0: as it is, 1: Snappy), masked CRC-32C of both
//   contents: (shared, added, value length, added bytes of the key, value)*, restarts, their number
//   footer: the places of the metaindex and the index, zeros up to 40 bytes, a magic number
//
// A table is read and written whole: an index has some 100 bytes for each tensor. docs/tensorflow_format.md.
#pragma once

#include "storage/files/file_system.hpp"

namespace troupe {

struct table_entry {
  std::string key, value;
  friend bool operator==(const table_entry&, const table_entry&) = default;
};

struct table_options {
  size_t block_bytes = size_t{1} << 18;  ///< A block is closed once it has so many; TensorFlow's are as large.
  int restart_every = 16;                ///< After so many entries a key is written whole.
};

/// Entries with rising keys (asserted) as the bytes of a table, without compression.
std::string write_sorted_table(std::span<const table_entry> entries, const table_options& options = {});

/// The entries of a whole table. data_loss naming the file, the offset and what is wrong: every byte of a block is covered by its
/// checksum, keys rise, and what is decoded is bounded by a multiple of the file's size. unimplemented: another compression.
expected<std::vector<table_entry>> read_sorted_table(const readable_file& file, const std::string& path);

}  // namespace troupe
