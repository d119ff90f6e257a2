// The body of a request while it arrives. Its memory is counted, grows without copies, and returns to the system once
// the body has been read.
#pragma once

#include "serving/request_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace troupe {

/// Used by one thread at a time.
class request_body {
 public:
  explicit request_body(request_memory* all = nullptr) noexcept : share_(all) {}
  request_body(const request_body&) = delete;
  request_body& operator=(const request_body&) = delete;
  ~request_body() { release(); }

  /// Returns false if there is no memory for more: `all` is used up, or the system has none.
  bool append(const char* bytes, size_t n) noexcept {
    if (n > room_ - size_ && !grow(size_ + n))
      return false;
    if (n > 0)
      std::memcpy(text_ + size_, bytes, n);
    size_ += n;
    return true;
  }
  size_t size() const noexcept { return size_; }
  std::string_view text() const noexcept { return {text_, size_}; }
  /// Called when the body is complete: gives back the room that is not used.
  void trim() noexcept {
    const size_t room = pages_for(std::max<size_t>(size_, 1));
    if (room_ <= small || room >= room_ || ::mremap(text_, room_, room, 0) == MAP_FAILED)
      return;
    room_ = room;
    share_.set(static_cast<int64_t>(room));
  }
  /// Gives back all memory; the body is empty afterwards.
  void release() noexcept {
    if (room_ <= small)
      std::free(text_);
    else
      ::munmap(text_, room_);
    text_ = nullptr;
    size_ = room_ = 0;
    share_.set(0);
  }

 private:
  /// Bodies up to this size are on the heap. Larger ones have pages of their own, which return to the system and grow
  /// without a copy.
  static constexpr size_t small = size_t{32} << 10;
  static constexpr size_t page = size_t{64} << 10;
  static size_t pages_for(size_t bytes) noexcept { return (bytes + page - 1) / page * page; }

  bool grow(size_t wanted) noexcept {
    // Below `small` the room doubles, beyond that it grows by a quarter.
    const size_t more = room_ < small ? 2 * room_ : room_ + room_ / 4;
    size_t room = std::max({wanted, more, size_t{4096}});
    if (room > small)
      room = pages_for(room);
    const auto before = share_.bytes();
    if (!share_.set(static_cast<int64_t>(room)))
      return false;
    char* const grown = room <= small ? static_cast<char*>(std::realloc(text_, room)) : mapped(room);
    if (!grown) {
      share_.set(before);
      return false;
    }
    text_ = grown;
    room_ = room;
    return true;
  }
  char* mapped(size_t room) noexcept {
    if (room_ > small) {
      void* const moved = ::mremap(text_, room_, room, MREMAP_MAYMOVE);
      return moved == MAP_FAILED ? nullptr : static_cast<char*>(moved);
    }
    void* const pages = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
      return nullptr;
    if (size_ > 0)
      std::memcpy(pages, text_, size_);
    std::free(text_);
    return static_cast<char*>(pages);
  }

  memory_share share_;
  char* text_ = nullptr;
  size_t size_ = 0, room_ = 0;
};

}  // namespace troupe
