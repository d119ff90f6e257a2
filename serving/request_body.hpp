// The body of a request as it comes: its memory is counted, grows without copies, and is the system's again once the body has been read.
#pragma once

#include "serving/request_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <sys/mman.h>

namespace troupe {

/// Used by one thread at a time.
class request_body {
 public:
  explicit request_body(request_memory* all = nullptr) noexcept : share_(all) {}
  request_body(const request_body&) = delete;
  request_body& operator=(const request_body&) = delete;
  ~request_body() { release(); }

  /// False: there is no memory for more, of those of all requests or of the system's.
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
  /// It is whole: what was taken for more is given back.
  void trim() noexcept {
    const size_t room = pages_for(std::max<size_t>(size_, 1));
    if (room_ <= small || room >= room_ || ::mremap(text_, room_, room, 0) == MAP_FAILED)
      return;
    room_ = room;
    share_.set(static_cast<int64_t>(room));
  }
  /// Empty from now on.
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
  /// Up to here blocks of the heap; beyond, pages of its own, which neither stay with the heap nor are copied when there are more of them.
  static constexpr size_t small = size_t{32} << 10;
  static constexpr size_t page = size_t{64} << 10;
  static size_t pages_for(size_t bytes) noexcept { return (bytes + page - 1) / page * page; }

  bool grow(size_t wanted) noexcept {
    // Below `small` bodies have at most twice their size, beyond that a quarter more.
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
