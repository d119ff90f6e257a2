// Memory of tensors. Large buffers are mapped separately. On glibc's heap they would lie between small blocks; once
// anything is allocated beside the hole of a freed aligned block, the hole is too small for the next block of its size,
// so the heap would grow without end. (memalign requests the alignment in addition and returns the surplus.)
#include "words/zeroed_buffer.hpp"

#include <troupe/tensor.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace troupe {

namespace {

constexpr size_t alignment = 64;
constexpr int64_t bytes_max = int64_t{1} << 47;  // The size of a process's address space.

#ifndef TROUPE_ADDRESS_SANITIZER
// glibc's initial threshold for mapping, before it adapts to larger freed blocks.
constexpr size_t pages_from = size_t{128} << 10;

std::shared_ptr<std::byte> map_pages(size_t size, bool zeroed) {
  void* p = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return nullptr;
  std::shared_ptr<std::byte> pages{static_cast<std::byte*>(p), [size](std::byte* q) { ::munmap(q, size); }};
  // MADV_POPULATE_WRITE replaces a page fault for each 4 KiB. Kernels before 5.14 lack it, and map zeroed pages on
  // first access.
  if (zeroed && ::madvise(p, size, MADV_POPULATE_WRITE) != 0 && errno == ENOMEM)
    return nullptr;
  return pages;
}

std::shared_ptr<std::byte> allocate(size_t size, bool zeroed) {
  if (size >= pages_from)
    return map_pages(size, zeroed);
  // Aligned by hand, in one block with its reference count, so that a later block of the same size fits into its place.
  auto block = std::make_shared_for_overwrite<std::byte[]>(size + alignment - 1);
  const auto start = reinterpret_cast<uintptr_t>(block.get());
  auto* aligned = block.get() + (alignment - start % alignment) % alignment;
  if (zeroed)
    std::memset(aligned, 0, size);
  return {std::move(block), aligned};
}
#else
/// The sanitizer checks the bounds only of blocks from its own allocator.
std::shared_ptr<std::byte> allocate(size_t size, bool zeroed) {
  auto* p = static_cast<std::byte*>(std::aligned_alloc(alignment, size));
  if (p && zeroed)
    std::memset(p, 0, size);
  return p ? std::shared_ptr<std::byte>(p, [](std::byte* q) { std::free(q); }) : nullptr;
}
#endif

std::shared_ptr<std::byte> allocate_lines(int64_t bytes, bool zeroed) {
  if (bytes < 0 || bytes > bytes_max)
    return nullptr;
  const size_t lines = (static_cast<size_t>(bytes) + alignment - 1) / alignment;
  try {
    return allocate(std::max<size_t>(lines, 1) * alignment, zeroed);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

std::shared_ptr<std::byte> allocate_buffer(int64_t bytes) { return allocate_lines(bytes, false); }

std::shared_ptr<std::byte> allocate_zeroed_buffer(int64_t bytes) { return allocate_lines(bytes, true); }

}  // namespace troupe
