// One checkpoint, read piece by piece, so that nobody needs room for a second copy of it.
//
// Checksums are of whole tensors: damage may show after pieces of it were given out. Whoever reads writes where nobody reads until the last piece has
// come, and begins again with an older checkpoint where one does not.
#pragma once

#include "storage/checkpoints/checkpoint_files.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"
#include "words/buffer_pool.hpp"

namespace troupe {

/// The checkpoint whose every byte was last read and found right, and its files before they were read.
struct verified_checkpoint {
  checkpoint_id id;
  std::map<std::string, file_mark> files;  ///< Empty: there is none.
};

/// Used by one thread at a time. It holds the checkpoint's lease, and may outlive the store.
class checkpoint_reader {
 public:
  /// Opens every file, and checks its size and header. data_loss naming the file. `verified` becomes this one with the last piece.
  static expected<std::unique_ptr<checkpoint_reader>> open(file_system& fs, const std::string& directory, manifest m, std::shared_ptr<file_hold> lease,
                                                           std::shared_ptr<verified_checkpoint> verified);

  const checkpoint_info& info() const noexcept { return info_; }
  const std::shared_ptr<file_hold>& lease() const noexcept { return lease_; }
  std::vector<std::string> warnings = {};  ///< As in `restored_checkpoint`.

  struct piece {
    size_t index = 0;    ///< Index in `info().tensors`.
    int64_t first = 0;   ///< Of the tensor's elements in row-major order.
    tensor elements;     ///< With one axis.
  };
  /// The next elements of one tensor, at most `bytes_max` bytes and at least one element, in the order of `info().tensors`; those without
  /// elements have no piece. Absent once all were given and every checksum was right. data_loss naming file, tensor and offset;
  /// resource_exhausted.
  expected<std::optional<piece>> next(int64_t bytes_max);
  /// All of it, as whole tensors; no piece was asked for before.
  expected<restored_checkpoint> all();

 private:
  checkpoint_reader(std::string directory, manifest m, std::shared_ptr<file_hold> lease, std::shared_ptr<verified_checkpoint> verified);

  std::string directory_;
  checkpoint_info info_;
  std::shared_ptr<file_hold> lease_;
  std::shared_ptr<verified_checkpoint> verified_;
  std::map<std::string, file_mark> marks_;  ///< Empty: the files could not be marked.
  checkpoint_files files_;
  buffer_pool pool_;
  size_t tensor_ = 0;                       ///< The tensor that is read,
  int64_t done_ = 0;                        ///< bytes of it that are,
  uint32_t crc32c_ = 0;                     ///< and their checksum.
};

}  // namespace troupe
