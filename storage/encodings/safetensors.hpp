// Reads and writes safetensors files: a little-endian 64-bit length, a JSON header with the place of each tensor, then
// the tensors' bytes without gaps.
#pragma once

#include "storage/files/file_system.hpp"

#include <troupe/tensor.hpp>

#include <map>

namespace troupe {

/// Where a tensor is in a file. `offset` counts from the beginning of the file.
struct tensor_place {
  std::string name;
  dtype type = dtype::float32;
  shape dims;
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// The format's name of a dtype: "F32", "F64", "I32", "I64", "BOOL", "U8".
std::string_view safetensors_name(dtype type) noexcept;

/// Where a tensor is, for any dtype of the format.
struct raw_place {
  std::string name;
  std::string_view type_name;  ///< "F16"
  std::vector<int64_t> extents;
  int64_t offset = 0;
  int64_t bytes = 0;  ///< The size that dtype and extents give.
};
/// Places `tensors` one after the other in their order, sets their offsets, and returns the bytes before them, as
/// below.
expected<std::string> lay_out_safetensors(std::span<raw_place> tensors);

/// Places `tensors` one after the other in their order, sets their offsets and sizes, and returns the bytes before
/// them: a multiple of 64, padded with spaces. Error: invalid_argument if a name is not UTF-8, is empty or is reserved.
expected<std::string> lay_out_safetensors(std::span<tensor_place> tensors);

/// The tensors of any safetensors file, in the order of their bytes. Lengths that do not fit the file are rejected
/// before memory is allocated. Errors: data_loss; unimplemented for an unsupported dtype. Each names file, tensor and
/// offset.
expected<std::vector<tensor_place>> read_safetensors_header(const readable_file& file, const std::string& path);

/// One entry of a header, as far as it can be parsed. It may have an unsupported dtype, or lie beyond the end of the
/// file.
struct safetensors_entry {
  tensor_place place;     ///< `type` and `dims` are valid only if there is no problem.
  std::string type_name;  ///< "F32", as written.
  std::vector<int64_t> extents;
  std::optional<error> problem;  ///< data_loss or unimplemented.
};
struct safetensors_scan {
  std::vector<safetensors_entry> entries;       ///< In the order of the tensors' bytes.
  std::map<std::string, std::string> metadata;  ///< The entry "__metadata__".
  std::optional<error> problem;  ///< A problem of the file: a gap, an overlap, bytes after the last tensor.
};
/// Reads what can be read of a file that may be damaged, to show it. Fails only if the header itself cannot be read.
expected<safetensors_scan> scan_safetensors(const readable_file& file, const std::string& path);

/// The product of the extents times the element size; absent if an extent is negative or the product overflows.
std::optional<int64_t> byte_size_of(dtype type, std::span<const int64_t> extents) noexcept;

/// The result of reading the tensor at `place`: its value, in its own buffer, and its checksum. Errors: data_loss,
/// resource_exhausted.
struct read_tensor_result {
  tensor value;
  uint32_t crc32c = 0;
};
expected<read_tensor_result> read_tensor(const readable_file& file, const std::string& path, const tensor_place& place);
/// Fills `to` with the tensor's bytes, beginning at its byte `from`. Returns the checksum `crc32c` extended by them.
/// Errors as above.
expected<uint32_t> read_bytes(const readable_file& file, const std::string& path, const tensor_place& place,
                              int64_t from, std::span<std::byte> to, uint32_t crc32c = 0);
/// Computes only the checksum, with one small buffer.
expected<uint32_t> checksum_tensor(const readable_file& file, const std::string& path, const tensor_place& place);

}  // namespace troupe
