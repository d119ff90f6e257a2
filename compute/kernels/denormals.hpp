// Flushes denormal numbers to zero while a program runs.
#pragma once

#include <xmmintrin.h>

namespace troupe {

/// While an object of this class exists, its thread treats denormal results and operands (below 2^-126 in float32) as
/// zero. Otherwise, as probabilities and moments decay, a step on denormals would take several times as long. Part of
/// the numerics, so always on. The destructor restores the caller's setting.
class flush_denormals {
 public:
  flush_denormals() noexcept : before_(_mm_getcsr()) {
    if ((before_ & mask) != mask)
      _mm_setcsr(before_ | mask);
  }
  flush_denormals(const flush_denormals&) = delete;
  flush_denormals& operator=(const flush_denormals&) = delete;
  ~flush_denormals() {
    if ((before_ & mask) != mask)
      _mm_setcsr(before_);
  }

 private:
  static constexpr unsigned mask = 0x8040;  // The bits "flush to zero" and "denormals are zero".
  unsigned before_;
};

}  // namespace troupe
