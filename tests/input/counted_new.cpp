// The global operators new and delete, in a separate file so that no caller can inline them.
#include "counted_new.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<int64_t> count = 0;
}

int64_t troupe::allocations() { return count; }

void* operator new(std::size_t size) {
  ++count;
  if (void* p = std::malloc(size ? size : 1))
    return p;
  throw std::bad_alloc();
}
// The standard library allocates temporary memory here, and frees it with the operators below.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++count;
  return std::malloc(size ? size : 1);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
