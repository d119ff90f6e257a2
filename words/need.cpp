#include "words/need.hpp"

namespace troupe {

int64_t next_need(int64_t after, const need& n) {
  if (n.first > after)
    return n.first;
  int64_t next = 0;
  if (n.every <= 0 || __builtin_mul_overflow((after - n.first) / n.every + 1, n.every, &next)
      || __builtin_add_overflow(n.first, next, &next))
    return INT64_MAX;
  return next;
}

}  // namespace troupe
