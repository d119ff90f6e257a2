// The print of a source: a small fingerprint that reveals data other than those that a position was saved with.
//
// A position is a count, which is meaningless in other data. Data of another shape or number are refused by the stages'
// texts; if only the bytes differ, the user is warned.
#pragma once

#include "storage/files/file_system.hpp"

#include <functional>
#include <mutex>
#include <optional>

namespace troupe::input {

/// One file, or one component in memory.
struct source_part {
  std::string what;         ///< "/data/train-images-idx3-ubyte", "'pixels' of tensors".
  int64_t bytes = 0;
  int64_t modified = 0;     ///< Seconds since the epoch, for a file: reported, not compared, since a copy has another.
  uint32_t crc32c = 0;      ///< Over all bytes, or over samples of them: see `sample`.
};
using source_print = std::vector<source_part>;

/// Lines "source <bytes> <modified> <crc32c> <name>", the name without directory and on one line. More than `lines_max`
/// parts share lines: the text is stored with every block that is read.
std::string to_text(const source_print& print);
inline constexpr size_t lines_max = 64;

/// Whether the next line of a state is such a line.
bool begins_print(std::string_view state) noexcept;
/// Removes such lines from the front of `state`, and returns a sentence for each that differs from `print`. Empty if
/// there are no such lines: positions saved by earlier versions have none.
std::vector<std::string> take_differences(std::string_view& state, const source_print& print);

/// The checksum of `bytes`, or of blocks spread evenly over them where they are more than `budget`.
uint32_t sample(std::span<const std::byte> bytes, int64_t budget);
/// The same for files, which share `budget`. Absent if one of them cannot be read now: reading it later reports the
/// error.
std::optional<source_print> print_of_files(file_system& files, const std::vector<std::string>& paths, int64_t budget);
/// Budgets that take a few milliseconds at most.
inline constexpr int64_t print_budget = int64_t{64} << 20, file_print_budget = int64_t{16} << 20;

/// A print that is computed once, on first use. Any thread may use it.
class lazy_print {
 public:
  explicit lazy_print(std::function<source_print()> take) : take_(std::move(take)) {}

  const source_print& get() const {
    take_once();
    return print_;
  }
  const std::string& text() const {
    take_once();
    return text_;
  }

 private:
  void take_once() const {
    std::call_once(once_, [this] {
      print_ = take_();
      text_ = to_text(print_);
    });
  }

  std::function<source_print()> take_;
  mutable std::once_flag once_;
  mutable source_print print_;
  mutable std::string text_;
};

}  // namespace troupe::input
