// The tensors of a stored checkpoint, by name. The checkpoint is one of Troupe, any safetensors file, or a TensorFlow
// V2 checkpoint.
//
// Nothing is locked and nothing is written. A Troupe checkpoint is protected by a lease while it is open. An object is
// used by one thread at a time.
#pragma once

#include "storage/encodings/element_types.hpp"
#include "storage/files/file_system.hpp"

namespace troupe {

enum class archive_format : uint8_t { troupe, tensorflow, safetensors };  ///< In the same order as `checkpoint_format`.
std::string_view to_string(archive_format f) noexcept;

struct archived_tensor {
  std::string name;
  std::string type;                     ///< "float32", "float16", "string"; an unknown one as the file names it.
  const element_type* known = nullptr;  ///< Null if the type is not in the table of element types.
  std::vector<int64_t> extents;
  int64_t bytes = 0;                  ///< Size in the file.
  std::optional<error> problem = {};  ///< The error that prevents reading it.

  /// Its dtype and shape in Troupe; absent if Troupe does not have the type, or for too many axes.
  std::optional<std::pair<dtype, shape>> ours() const;
};
/// Type and extents as text: "float32[2, 3]".
std::string type_text(const archived_tensor& t);

class tensor_archive {
 public:
  virtual ~tensor_archive() = default;
  virtual archive_format format() const noexcept = 0;
  /// The prefix of a checkpoint or the path of a file, for messages.
  const std::string& path() const noexcept { return path_; }
  /// Sorted by name.
  const std::vector<archived_tensor>& tensors() const noexcept { return tensors_; }
  /// Null if there is no tensor of that name.
  const archived_tensor* find(std::string_view name) const;

  /// Reads the bytes of a tensor: row-major, little-endian. Compares the checksum if the file has one. Errors: the
  /// tensor's `problem`; data_loss naming file, tensor and offset; resource_exhausted; type: the tensor holds texts.
  virtual expected<std::shared_ptr<const std::byte>> read_bytes(const archived_tensor& t) = 0;
  /// The same as a `tensor`. Error: also type if Troupe does not have the tensor's type, naming both.
  expected<tensor> read(const archived_tensor& t);

 protected:
  explicit tensor_archive(std::string path) : path_(std::move(path)) {}
  void take(std::vector<archived_tensor> tensors);

 private:
  std::string path_;
  std::vector<archived_tensor> tensors_;
};

/// Opens the checkpoint or file that `path` names:
///   a directory                       the newest checkpoint that its state file names, or the one of `step`; ours or
///   TensorFlow's DIR/model.ckpt-390, its manifest  a checkpoint of ours PREFIX, PREFIX.index              a TensorFlow
///   checkpoint, if PREFIX.index exists FILE.safetensors                  any such file
/// Errors: not_found: none of these; invalid_argument: a `step` for a path that is not a directory; data_loss and the
/// errors of the formats. A damaged checkpoint is an error: no other is opened in its place.
expected<std::unique_ptr<tensor_archive>> open_archive(const std::shared_ptr<file_system>& fs, const std::string& path,
                                                       std::optional<int64_t> step = {});

/// The step at which an archive was saved: its int64 scalar "global_step"; absent if it has none. Error: data_loss if
/// it is below 0.
expected<std::optional<int64_t>> step_of(tensor_archive& archive);

}  // namespace troupe
