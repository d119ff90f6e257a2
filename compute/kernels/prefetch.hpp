// Prefetching a line of memory that is about to be written.
#pragma once

namespace troupe {

/// Requests exclusive ownership of the line. Where another core has read it since it was written, a store alone would
/// wait for that core to release it, line after line: an update shared by two threads took four times as long. The
/// compiler's own __builtin_prefetch requests the line for reading only, unless it is told that the processor has this
/// instruction. Processors without the instruction ignore it.
__attribute__((always_inline)) static inline void prefetch_to_write(const void* p) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(p)));
#else
  __builtin_prefetch(p, 1);
#endif
}

}  // namespace troupe
