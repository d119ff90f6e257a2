// The fingerprint of a source's data. It shows whether a saved position belongs to other data.
//
// A position is a count, which is meaningless for other data. If shape or number of the data differ, the texts of the
// stages differ and the position is rejected. If only the bytes differ, the user gets a warning.
#pragma once

#include "storage/files/file_system.hpp"

#include <functional>
#include <mutex>
#include <optional>

namespace troupe::input {

/// The fingerprint of one file or one component in memory.
struct fingerprint_entry {
  std::string what;  ///< "/data/train-images-idx3-ubyte", "'pixels' of tensors".
  int64_t bytes = 0;
  /// Modification time of a file, in seconds since the epoch. Only reported, not compared, since a copy has another
  /// time.
  int64_t modified = 0;
  uint32_t crc32c = 0;  ///< Checksum of all bytes or of samples; see `sample`.
};
using source_fingerprint = std::vector<fingerprint_entry>;

/// The lines "source <bytes> <modified> <crc32c> <name>", the name without its directory. If there are more than
/// `lines_max` parts, several share a line: the text is stored with every block that is read.
std::string to_text(const source_fingerprint& fingerprint);
inline constexpr size_t lines_max = 8;

/// Whether `state` begins with such a line.
bool begins_fingerprint(std::string_view state) noexcept;
/// Removes such lines from the front of `state`, and returns a sentence for each that differs from `fingerprint`. None
/// if there are no such lines, as in positions of earlier versions.
std::vector<std::string> take_differences(std::string_view& state, const source_fingerprint& fingerprint);

/// The checksum of `bytes`; if these are more than `budget`, of blocks spread evenly over them.
uint32_t sample(std::span<const std::byte> bytes, int64_t budget);
/// The fingerprint of files, which share `budget`. Absent if a file cannot be read now: reading it later reports the
/// error.
std::optional<source_fingerprint> fingerprint_of_files(file_system& files, const std::vector<std::string>& paths,
                                                       int64_t budget);
/// Budgets in bytes; computing a fingerprint then takes a few milliseconds at most.
inline constexpr int64_t fingerprint_budget = int64_t{64} << 20, file_fingerprint_budget = int64_t{16} << 20;

/// A fingerprint that is computed once, at its first use. Any thread may use it.
class lazy_fingerprint {
 public:
  explicit lazy_fingerprint(std::function<source_fingerprint()> take) : take_(std::move(take)) {}

  const source_fingerprint& get() const {
    take_once();
    return fingerprint_;
  }
  const std::string& text() const {
    take_once();
    return text_;
  }

 private:
  void take_once() const {
    std::call_once(once_, [this] {
      fingerprint_ = take_();
      text_ = to_text(fingerprint_);
    });
  }

  std::function<source_fingerprint()> take_;
  mutable std::once_flag once_;
  mutable source_fingerprint fingerprint_;
  mutable std::string text_;
};

}  // namespace troupe::input
