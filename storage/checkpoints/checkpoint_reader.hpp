// Reads one checkpoint piece by piece, so that a reader needs no memory for a second copy of it.
//
// A checksum covers a whole tensor, so damage may be found after some pieces of the tensor were returned. A reader must
// store the pieces where nobody uses them until the last one has arrived, and start again with an older checkpoint
// after an error.
#pragma once

#include "storage/checkpoints/checkpoint_files.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "words/buffer_pool.hpp"

namespace troupe {

/// The last checkpoint of which every byte was read and verified, with the stamps of its files from before the reading.
struct verified_checkpoint {
  checkpoint_id id;
  std::map<std::string, file_stamp> files;  ///< Empty: no checkpoint was verified.
};

/// Used by one thread at a time. Holds the checkpoint's lease; may outlive the store.
class checkpoint_reader {
 public:
  /// Opens every file of the checkpoint, and checks its size and header. Error: data_loss naming the file. `verified`
  /// is set to this checkpoint when the last piece has been read.
  static expected<std::unique_ptr<checkpoint_reader>> open(file_system& fs, const std::string& directory, manifest m,
                                                           std::shared_ptr<file_hold> lease,
                                                           std::shared_ptr<verified_checkpoint> verified);

  const checkpoint_info& info() const noexcept { return info_; }
  const std::shared_ptr<file_hold>& lease() const noexcept { return lease_; }
  std::vector<std::string> warnings = {};  ///< As in `restored_checkpoint`.

  struct piece {
    size_t index = 0;   ///< Index in `info().tensors`.
    int64_t first = 0;  ///< Index of the first element in `elements`, in row-major order of the tensor.
    tensor elements;    ///< The elements, as a tensor with one axis.
  };
  /// The next elements of a tensor: at least one, and at most `bytes_max` bytes. Tensors come in the order of
  /// `info().tensors`; empty tensors have no piece. Absent after the last piece, when every checksum was right. Errors:
  /// data_loss naming file, tensor and offset; resource_exhausted.
  expected<std::optional<piece>> next(int64_t bytes_max);
  /// Reads one tensor, whatever `next` has read. Absent if there is none of that name. Errors: as for `next`.
  expected<std::optional<tensor>> one(const std::string& name) const;
  /// Reads the whole checkpoint. `next` must not have been called before.
  expected<restored_checkpoint> all();

 private:
  checkpoint_reader(std::string directory, manifest m, std::shared_ptr<file_hold> lease,
                    std::shared_ptr<verified_checkpoint> verified);

  std::string directory_;
  checkpoint_info info_;
  std::shared_ptr<file_hold> lease_;
  std::shared_ptr<verified_checkpoint> verified_;
  std::map<std::string, file_stamp> stamps_;  ///< Empty if the files could not be examined.
  checkpoint_files files_;
  buffer_pool pool_;
  size_t tensor_ = 0;    ///< Index of the tensor that is being read.
  int64_t done_ = 0;     ///< Bytes of it that were read so far.
  uint32_t crc32c_ = 0;  ///< Checksum of these bytes.
};

}  // namespace troupe
