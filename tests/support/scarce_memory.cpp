// The global operators new and delete, in a separate file so that no caller can inline them.
#include "tests/support/scarce_memory.hpp"

#include <cstdlib>
#include <new>

namespace {

constexpr int64_t plenty = -1;
thread_local int64_t allocations_left = plenty;
thread_local bool allocation_refused = false;

}  // namespace

namespace troupe::test {

scarce_memory::scarce_memory(int64_t allocations) noexcept {
  allocations_left = allocations, allocation_refused = false;
}
scarce_memory::~scarce_memory() { allocations_left = plenty; }
void scarce_memory::end() noexcept { allocations_left = 0; }
bool scarce_memory::ended() const noexcept { return allocation_refused; }

}  // namespace troupe::test

void* operator new(std::size_t size) {
  allocation_refused = allocation_refused || allocations_left == 0;
  void* const p = allocations_left == 0 ? nullptr : std::malloc(size > 0 ? size : 1);
  if (!p)
    throw std::bad_alloc();
  allocations_left -= allocations_left > 0 ? 1 : 0;
  return p;
}
// For the temporary memory of the standard library, which does without it where there is none: no allocation is
// refused.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocations_left == 0 ? nullptr : std::malloc(size > 0 ? size : 1);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
