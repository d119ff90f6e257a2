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

int64_t next_beginning(const trace_need& n, int64_t from) {
  if (n.steps < 1 || n.first < 0)
    return INT64_MAX;
  if (n.first >= from)
    return n.first;
  if (n.every <= 0)
    return INT64_MAX;
  const int64_t behind = from - n.first, rounds = behind / n.every + (behind % n.every != 0);
  int64_t passed = 0, at = 0;
  if (__builtin_mul_overflow(rounds, n.every, &passed) || __builtin_add_overflow(n.first, passed, &at))
    return INT64_MAX;
  return at;
}

bool begins_at(const trace_need& n, int64_t first) { return next_beginning(n, first) == first; }

}  // namespace troupe
