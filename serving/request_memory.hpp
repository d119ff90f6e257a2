// Bounds the memory of all requests in progress: their bodies, the tensors read from them, outputs and responses.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace troupe {

/// Counts bytes and holds none itself. Any thread.
class request_memory {
 public:
  explicit request_memory(int64_t bytes_max) noexcept : bytes_max_(bytes_max) {}
  request_memory(const request_memory&) = delete;
  request_memory& operator=(const request_memory&) = delete;

  int64_t used() const noexcept { return used_; }

 private:
  friend class memory_share;

  bool take(int64_t bytes) noexcept {
    int64_t used = used_;
    do {
      if (bytes > bytes_max_ - used)
        return false;
    } while (!used_.compare_exchange_weak(used, used + bytes));
    return true;
  }
  void give_back(int64_t bytes) noexcept { used_ -= bytes; }

  const int64_t bytes_max_;
  std::atomic<int64_t> used_{0};
};

/// The bytes that one owner holds of a `request_memory`; the destructor gives them back. Used by one thread at a time.
class memory_share {
 public:
  /// `all` outlives the share. Null: unbounded.
  explicit memory_share(request_memory* all = nullptr) noexcept : all_(all) {}
  memory_share(memory_share&& other) noexcept : all_(other.all_), bytes_(std::exchange(other.bytes_, 0)) {}
  memory_share& operator=(memory_share&& other) noexcept {
    std::swap(all_, other.all_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~memory_share() { set(0); }

  /// Sets the number of bytes held, at least 0. Returns false and changes nothing if the others hold too much.
  bool set(int64_t bytes) noexcept {
    if (all_ && bytes > bytes_ && !all_->take(bytes - bytes_))
      return false;
    if (all_ && bytes < bytes_)
      all_->give_back(bytes_ - bytes);
    bytes_ = bytes;
    return true;
  }
  int64_t bytes() const noexcept { return bytes_; }

 private:
  request_memory* all_;
  int64_t bytes_ = 0;
};

}  // namespace troupe
