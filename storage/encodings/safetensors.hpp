// safetensors: a little-endian 64-bit length, a JSON header that places each tensor, then the tensors' bytes, end to end.
#pragma once

#include "storage/files/file_system.hpp"

#include <troupe/tensor.hpp>

#include <map>

namespace troupe {

/// The place of a tensor: `offset` counts from the beginning of the file.
struct tensor_place {
  std::string name;
  dtype type = dtype::float32;
  shape dims;
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// "F32", "F64", "I32", "I64", "BOOL", "U8".
std::string_view safetensors_name(dtype type) noexcept;

/// A tensor of any dtype that safetensors has.
struct raw_place {
  std::string name;
  std::string_view type_name;          ///< "F16"
  std::vector<int64_t> extents;
  int64_t offset = 0;
  int64_t bytes = 0;                   ///< As dtype and extents say.
};
/// Lays `tensors` end to end in their order, sets their offsets, and returns the bytes before them, as below.
expected<std::string> lay_out_safetensors(std::span<raw_place> tensors);

/// Lays `tensors` end to end in their order, sets their offsets and bytes, and returns the bytes before them: a
/// multiple of 64, padded with spaces. invalid_argument: a name is not UTF-8, is empty or is reserved.
expected<std::string> lay_out_safetensors(std::span<tensor_place> tensors);

/// The tensors of a file from anywhere, in the order of their bytes. Lengths that the file cannot have are refused
/// before allocating. data_loss, unimplemented (an unsupported dtype), each naming file, tensor and offset.
expected<std::vector<tensor_place>> read_safetensors_header(const readable_file& file, const std::string& path);

/// One entry of a header, as far as it can be parsed: also with an unsupported dtype, or beyond the file's end.
struct safetensors_entry {
  tensor_place place;                  ///< Its type and dims are valid only without a problem.
  std::string type_name;               ///< "F32", as written.
  std::vector<int64_t> extents;
  std::optional<error> problem;        ///< data_loss, unimplemented.
};
struct safetensors_scan {
  std::vector<safetensors_entry> entries;          ///< In the order of their bytes.
  std::map<std::string, std::string> metadata;     ///< "__metadata__".
  std::optional<error> problem;                    ///< In the file: a gap, an overlap, bytes after the last tensor.
};
/// For showing what is left of a damaged file. Errors, and refusals, only where the header itself cannot be read.
expected<safetensors_scan> scan_safetensors(const readable_file& file, const std::string& path);

/// The product of extents times the size of an element; absent when an extent is negative or it does not fit.
std::optional<int64_t> byte_size_of(dtype type, std::span<const int64_t> extents) noexcept;

/// Reads the tensor at `place` into a buffer of its own and returns its checksum. data_loss, resource_exhausted.
struct read_tensor_result {
  tensor value;
  uint32_t crc32c = 0;
};
expected<read_tensor_result> read_tensor(const readable_file& file, const std::string& path, const tensor_place& place);
/// Fills `to` with the tensor's bytes from the `from`-th on, and returns the checksum `crc32c` continued by them. Errors as above.
expected<uint32_t> read_bytes(const readable_file& file, const std::string& path, const tensor_place& place, int64_t from, std::span<std::byte> to,
                              uint32_t crc32c = 0);
/// The checksum alone, using one small buffer.
expected<uint32_t> checksum_tensor(const readable_file& file, const std::string& path, const tensor_place& place);

}  // namespace troupe
