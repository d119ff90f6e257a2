// TensorFlow V2 checkpoints: `<prefix>.index`, a sorted table of what each tensor is and where it lies, and raw little-endian bytes
// in `<prefix>.data-0000i-of-0000n`. docs/tensorflow_format.md.
//
// A tensor lies in one piece, or, as variables with a partitioner do, in slices that are put together here. Texts have lengths before
// their bytes. An object is used by one thread at a time; it opens data files when a tensor in them is first read, and keeps them open.
#pragma once

#include "storage/encodings/element_types.hpp"
#include "storage/files/file_system.hpp"

#include <functional>
#include <map>

namespace troupe {

/// Where a box of a tensor lies.
struct bundle_piece {
  std::vector<int64_t> starts, lengths;  ///< By axis.
  int32_t shard = 0;
  int64_t offset = 0, bytes = 0;
  uint32_t crc32c = 0;
};

struct bundle_tensor {
  std::string name;
  const element_type* type = nullptr;   ///< Null: the number is not known.
  int32_t type_number = 0;
  std::vector<int64_t> extents;
  int64_t bytes = 0;                     ///< In the files; of texts with their lengths.
  std::vector<bundle_piece> pieces;
  std::optional<error> problem = {};     ///< data_loss, unimplemented: why it cannot be read.
};

/// "<prefix>.index", "<prefix>.data-00000-of-00002"
std::string bundle_index_name(std::string_view prefix);
std::string bundle_data_name(std::string_view prefix, int32_t shard, int32_t shards);

class tensor_bundle {
 public:
  /// Reads the index; `fs` outlives the object. not_found; data_loss naming the file and the place; unimplemented: big-endian bytes, or a version that this
  /// reader must refuse. What is wrong with single tensors is their `problem`.
  static expected<tensor_bundle> open(file_system& fs, std::string prefix);

  const std::string& prefix() const noexcept { return prefix_; }
  int32_t shards() const noexcept { return shards_; }
  int32_t producer() const noexcept { return producer_; }
  /// By name.
  const std::vector<bundle_tensor>& tensors() const noexcept { return tensors_; }
  /// Null where there is none.
  const bundle_tensor* find(std::string_view name) const;

  /// The elements of a tensor of fixed size, row-major; every checksum is compared. Its problem; data_loss naming file, tensor and
  /// offset; resource_exhausted; type: it holds texts.
  expected<std::shared_ptr<std::byte>> read(const bundle_tensor& t);
  /// The texts of a tensor of them; the other errors as above.
  expected<std::vector<std::string>> read_texts(const bundle_tensor& t);
  /// Compares every checksum and keeps nothing.
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

/// What is to be written; the bytes of a tensor are wanted once, in order, and not kept.
struct bundle_source {
  std::string name;
  const element_type* type = nullptr;    ///< One of fixed size that TensorFlow has.
  std::vector<int64_t> extents;
  std::function<expected<std::shared_ptr<const std::byte>>()> read;
};

/// Writes a checkpoint in one data file: first that, then the index, each under a temporary name, synced and renamed. `directory`
/// exists. invalid_argument: a name that is empty or occurs twice. On error no file of that prefix is there that was not before,
/// but for temporary ones that could not be removed.
expected<void> write_bundle(file_system& fs, const std::string& directory, const std::string& name, std::vector<bundle_source> tensors);

/// The key under which TensorFlow's index has a slice of a tensor.
std::string bundle_slice_key(std::string_view tensor, std::span<const int64_t> starts, std::span<const std::optional<int64_t>> lengths);

}  // namespace troupe
