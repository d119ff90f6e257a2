// Memory of tensors. Large buffers are pages of their own: in glibc's heap they would lie between small blocks, and a hole that an
// aligned block leaves is too small for the next of its size once anything has been put beside it, so that the heap grows without end.
// (memalign asks for the alignment on top and gives back what it cuts off.)
#include <troupe/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace troupe {

namespace {

constexpr size_t alignment = 64;
constexpr int64_t bytes_max = int64_t{1} << 47;  // What an address space holds.

#ifndef TROUPE_ADDRESS_SANITIZER
constexpr size_t pages_from = size_t{128} << 10;  // As glibc does until it has seen a larger block freed.

std::shared_ptr<std::byte> allocate(size_t size) {
  if (size >= pages_from) {
    void* p = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
      return nullptr;
    return {static_cast<std::byte*>(p), [size](std::byte* q) { ::munmap(q, size); }};
  }
  // Aligned by hand, in one block with its reference count: a block of the same size fits where this one was.
  auto block = std::make_shared_for_overwrite<std::byte[]>(size + alignment - 1);
  const auto start = reinterpret_cast<uintptr_t>(block.get());
  auto* aligned = block.get() + (alignment - start % alignment) % alignment;
  return {std::move(block), aligned};
}
#else
/// The sanitizer watches over the ends of what its own allocator hands out.
std::shared_ptr<std::byte> allocate(size_t size) {
  auto* p = static_cast<std::byte*>(std::aligned_alloc(alignment, size));
  return p ? std::shared_ptr<std::byte>(p, [](std::byte* q) { std::free(q); }) : nullptr;
}
#endif

}  // namespace

std::shared_ptr<std::byte> allocate_buffer(int64_t bytes) {
  if (bytes < 0 || bytes > bytes_max)
    return nullptr;
  const size_t lines = (static_cast<size_t>(bytes) + alignment - 1) / alignment;
  try {
    return allocate(std::max<size_t>(lines, 1) * alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace troupe
