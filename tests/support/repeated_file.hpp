// Files of any size whose contents are generated on reading, and a measure of the memory that their reader holds.
#pragma once

#include "tests/support/delegating_file_system.hpp"

#include <malloc.h>

#include <algorithm>

namespace troupe {

/// Every path is a file that contains `first` once and then `again` `times` times. Every directory lists one file,
/// `name`.
class repeated_file_system final : public delegating_file_system {
 public:
  repeated_file_system(std::string first, std::string again, int64_t times, std::string name = "f")
    : delegating_file_system(memory_file_system()), first_(std::move(first)), again_(std::move(again)), times_(times),
      name_(std::move(name)) {}

  int64_t size() const { return std::ssize(first_) + times_ * std::ssize(again_); }
  /// The maximum of the bytes in use on the heap at a read, less those at the first read. 0 in builds with sanitizers,
  /// whose heap is a different one.
  int64_t held_max() const { return held_max_ - *held_first_; }

  expected<std::unique_ptr<readable_file>> open(const std::string&) override { return std::make_unique<file>(*this); }
  expected<std::vector<file_info>> list(const std::string&) override {
    return std::vector{file_info{.name = name_, .size = size()}};
  }
  expected<file_info> info(const std::string& path) override {
    return file_info{.name = name_, .directory = !path.ends_with(name_), .size = path.ends_with(name_) ? size() : 0};
  }

 private:
  class file final : public readable_file {
   public:
    explicit file(repeated_file_system& owner) : owner_(owner) {}

    expected<void> read(int64_t offset, std::span<std::byte> into) const override {
      const auto heap = ::mallinfo2();
      const auto held = static_cast<int64_t>(heap.uordblks + heap.hblkhd);
      owner_.held_max_ = std::max(owner_.held_max_, held);
      if (!owner_.held_first_)
        owner_.held_first_ = held;
      for (size_t done = 0; done < into.size();) {
        const int64_t at = offset + static_cast<int64_t>(done), first = std::ssize(owner_.first_),
                      again = std::ssize(owner_.again_);
        const auto text = at < first
                              ? std::string_view{owner_.first_}.substr(static_cast<size_t>(at))
                              : std::string_view{owner_.again_}.substr(static_cast<size_t>((at - first) % again));
        const size_t n = std::min(text.size(), into.size() - done);
        std::copy_n(reinterpret_cast<const std::byte*>(text.data()), n, into.data() + done);
        done += n;
      }
      return {};
    }
    int64_t size() const noexcept override { return owner_.size(); }

   private:
    repeated_file_system& owner_;
  };

  std::string first_, again_;
  int64_t times_;
  std::string name_;
  int64_t held_max_ = 0;
  std::optional<int64_t> held_first_;
};

}  // namespace troupe
