// Prefetching a line of memory that is about to be written.
#pragma once

namespace troupe {

/// Requests exclusive ownership of the line (instruction prefetchw). If another core has read the line since it was
/// written, a plain store waits for that core, line after line: an update by two threads took four times as long.
/// __builtin_prefetch emits prefetchw only if the compiler targets processors that have it. Processors that lack it
/// ignore it.
__attribute__((always_inline)) static inline void prefetch_to_write(const void* p) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(p)));
#else
  __builtin_prefetch(p, 1);
#endif
}

}  // namespace troupe
