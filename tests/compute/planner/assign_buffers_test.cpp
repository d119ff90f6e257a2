// Buffer assignment: values that live at the same time do not overlap, and the arena is hardly larger than the bytes
// that live at once.
#include "compute/planner/program_draft.hpp"

#include <doctest/doctest.h>

namespace troupe {
namespace {

/// A sequence of calls. Each reads up to two earlier values and makes one of 4 to 40,000 bytes; the last value is kept.
program_draft made_up(uint32_t seed, int calls) {
  const auto next = [&seed](int limit) {
    return static_cast<int32_t>(((seed = seed * 1664525 + 1013904223) >> 8) % static_cast<uint32_t>(limit));
  };
  program_draft p;
  for (int c = 0; c < calls; ++c) {
    planned_value v;
    v.dims = shape{next(10) == 0 ? 1 + next(10000) : 1 + next(1000)};
    planned_call call{.op = &ops::transpose, .out = {c}};
    for (int i = 0; i < 2 && c > 0; ++i)
      call.in.push_back(std::max(0, c - 1 - next(next(4) == 0 ? calls : 5)));
    p.values.push_back(v);
    p.calls.push_back(call);
  }
  p.values.back().keep = true;
  return p;
}

int64_t end_of(const planned_value& v) { return v.where.offset + v.bytes(); }

}  // namespace

TEST_CASE("values that live at one time share no byte, and all lie within the arena") {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    program_draft p = made_up(seed, 120);
    assign_buffers(p);
    for (size_t i = 0; i < p.values.size(); ++i) {
      const auto& a = p.values[i];
      CHECK(a.where.offset % 64 == 0);
      CHECK(end_of(a) <= p.arena_bytes);
      for (size_t j = 0; j < i; ++j) {
        const auto& b = p.values[j];
        const bool at_one_time = a.first <= b.last && b.first <= a.last,
                   apart = end_of(a) <= b.where.offset || end_of(b) <= a.where.offset;
        CHECK((apart || !at_one_time));
      }
    }
  }
}

TEST_CASE("the greatest sum of what lives at one call is found, and the arena is hardly larger") {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    program_draft p = made_up(seed, 120);
    assign_buffers(p);
    int64_t most = 0;
    for (int call = 0; call <= 120; ++call) {
      int64_t now = 0;
      for (const auto& v : p.values)
        now += v.first <= call && call <= v.last ? v.bytes() : 0;
      most = std::max(most, now);
    }
    CHECK(p.live_bytes_max == most);
    CHECK(p.arena_bytes >= most);
    CHECK(static_cast<double>(p.arena_bytes) <= 1.1 * static_cast<double>(most));
  }
}

TEST_CASE("neighbours of whole pages begin at different page offsets") {
  program_draft p = made_up(1, 3);
  for (auto& v : p.values)
    v.dims = shape{4096};
  p.calls[1].in = {0};
  p.calls[2].in = {0, 1};
  assign_buffers(p);
  CHECK(p.values[0].where.offset == 0);
  CHECK(p.values[1].where.offset == 4 * 4096 + 320);
  CHECK(p.values[2].where.offset == 2 * (4 * 4096 + 320));
}

}  // namespace troupe
