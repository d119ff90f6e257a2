// The tensors of a stored checkpoint of any format, by name: one of ours, a safetensors file from anywhere, a TensorFlow V2 checkpoint.
//
// Nothing is locked and nothing is written. What is ours is held by a lease while it is open. An object is used by one thread at a
// time.
#pragma once

#include "storage/encodings/element_types.hpp"
#include "storage/files/file_system.hpp"

namespace troupe {

enum class archive_format : uint8_t { troupe, tensorflow, safetensors };  ///< In the order of checkpoint_format.
std::string_view to_string(archive_format f) noexcept;

struct archived_tensor {
  std::string name;
  std::string type;                      ///< "float32", "float16", "string"; an unknown one as the file names it.
  const element_type* known = nullptr;   ///< Null: none that is listed.
  std::vector<int64_t> extents;
  int64_t bytes = 0;                     ///< In the file.
  std::optional<error> problem = {};     ///< Why it cannot be read.

  /// As a dtype and a shape of ours; absent for other types, and for more axes than a tensor has.
  std::optional<std::pair<dtype, shape>> ours() const;
};
/// "float32[2, 3]"
std::string type_text(const archived_tensor& t);

class tensor_archive {
 public:
  virtual ~tensor_archive() = default;
  virtual archive_format format() const noexcept = 0;
  /// The prefix of a checkpoint, or the file: for messages.
  const std::string& path() const noexcept { return path_; }
  /// By name.
  const std::vector<archived_tensor>& tensors() const noexcept { return tensors_; }
  /// Null where there is none.
  const archived_tensor* find(std::string_view name) const;

  /// The bytes of a tensor, row-major, little-endian, its checksum compared where there is one. Its problem; data_loss naming file,
  /// tensor and offset; resource_exhausted; type: a tensor of texts.
  virtual expected<std::shared_ptr<const std::byte>> read_bytes(const archived_tensor& t) = 0;
  /// The same as a tensor. type: it is of no dtype of ours, naming the tensor and its type.
  expected<tensor> read(const archived_tensor& t);

 protected:
  explicit tensor_archive(std::string path) : path_(std::move(path)) {}
  void take(std::vector<archived_tensor> tensors);

 private:
  std::string path_;
  std::vector<archived_tensor> tensors_;
};

/// What a path means:
///   a directory                       the newest checkpoint that its state file names, or the one of `step`; ours or TensorFlow's
///   DIR/model.ckpt-390, its manifest  a checkpoint of ours
///   PREFIX, PREFIX.index              a TensorFlow checkpoint, if PREFIX.index exists
///   FILE.safetensors                  any such file
/// not_found: none of these; invalid_argument: a `step` beside a path that is no directory; data_loss and the errors of the formats. No
/// other checkpoint takes the place of a damaged one.
expected<std::unique_ptr<tensor_archive>> open_archive(const std::shared_ptr<file_system>& fs, const std::string& path,
                                                       std::optional<int64_t> step = {});

/// The step that an archive was saved at: its scalar int64 "global_step"; absent if it has none. data_loss where that is below 0.
expected<std::optional<int64_t>> step_of(tensor_archive& archive);

}  // namespace troupe
