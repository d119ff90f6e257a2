// TensorFlow V2 checkpoints. `<prefix>.index` is a sorted table with the type and place of each tensor;
// `<prefix>.data-0000i-of-0000n` has the raw little-endian bytes. Byte layout: docs/tensorflow_format.md.
//
// A tensor is stored in one piece, or in slices if its variable has a partitioner; `read` puts these together. Texts
// have their lengths before their bytes. An object is used by one thread at a time. It opens a data file when a tensor
// in it is first read, and keeps it open.
#pragma once

#include "storage/encodings/element_types.hpp"
#include "storage/files/file_system.hpp"

#include <functional>
#include <map>

namespace troupe {

/// The place of a slice of a tensor: the box of elements that it holds, and where its bytes are.
struct bundle_piece {
  std::vector<int64_t> starts, lengths;  ///< For each axis.
  int32_t shard = 0;
  int64_t offset = 0, bytes = 0;
  uint32_t crc32c = 0;
};

struct bundle_tensor {
  std::string name;
  const element_type* type = nullptr;  ///< Null if `type_number` is unknown.
  int32_t type_number = 0;
  std::vector<int64_t> extents;
  int64_t bytes = 0;  ///< Size in the files; for texts including their lengths.
  std::vector<bundle_piece> pieces;
  std::optional<error> problem = {};  ///< data_loss or unimplemented: why the tensor cannot be read.
};

/// File names: "<prefix>.index", "<prefix>.data-00000-of-00002".
std::string bundle_index_name(std::string_view prefix);
std::string bundle_data_name(std::string_view prefix, int32_t shard, int32_t shards);

class tensor_bundle {
 public:
  /// Reads the index. `fs` must outlive the object. Problems of single tensors are in their `problem`. Errors:
  /// not_found; data_loss naming the file and the place; unimplemented: big-endian bytes, or a version that this reader
  /// must reject.
  static expected<tensor_bundle> open(file_system& fs, std::string prefix);

  const std::string& prefix() const noexcept { return prefix_; }
  int32_t shards() const noexcept { return shards_; }
  int32_t producer() const noexcept { return producer_; }
  /// Sorted by name.
  const std::vector<bundle_tensor>& tensors() const noexcept { return tensors_; }
  /// Null if there is no tensor of that name.
  const bundle_tensor* find(std::string_view name) const;

  /// Reads the elements of a tensor of fixed-size type, row-major, and verifies every checksum. Errors: the tensor's
  /// `problem`; data_loss naming file, tensor and offset; resource_exhausted; type: it holds texts.
  expected<std::shared_ptr<std::byte>> read(const bundle_tensor& t);
  /// Reads the texts of a tensor. Error: type if it does not hold texts; other errors as above.
  expected<std::vector<std::string>> read_texts(const bundle_tensor& t);
  /// Verifies every checksum, without keeping the bytes.
  expected<void> verify(const bundle_tensor& t);

 private:
  tensor_bundle(file_system& fs, std::string prefix) : fs_(&fs), prefix_(std::move(prefix)) {}
  expected<readable_file*> data_file(int32_t shard);
  expected<void> read_piece(const bundle_tensor& t, const bundle_piece& p, std::span<std::byte> into);

  file_system* fs_;
  std::string prefix_;
  int32_t shards_ = 1, producer_ = 0;
  std::vector<bundle_tensor> tensors_;
  std::map<int32_t, std::unique_ptr<readable_file>> files_;
};

/// A tensor to write. `read` is called once for each tensor, in order; its bytes are not kept.
struct bundle_source {
  std::string name;
  const element_type* type = nullptr;  ///< A type of fixed size that TensorFlow has.
  std::vector<int64_t> extents;
  std::function<expected<std::shared_ptr<const std::byte>>()> read;
};

/// Writes a checkpoint with one data file. Data and index are each written under a temporary name, synced and renamed,
/// the data first. `directory` must exist. Error: invalid_argument if a name is empty or occurs twice. After an error
/// there are no new files with that prefix, except temporary ones that could not be removed.
expected<void> write_bundle(file_system& fs, const std::string& directory, const std::string& name,
                            std::vector<bundle_source> tensors);

/// The key of a tensor's slice in TensorFlow's index.
std::string bundle_slice_key(std::string_view tensor, std::span<const int64_t> starts,
                             std::span<const std::optional<int64_t>> lengths);

}  // namespace troupe
