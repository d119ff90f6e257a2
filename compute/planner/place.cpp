// Placement: every value and workspace gets its bytes of one arena, for no longer than it lives.
//
// Values are placed largest first, each at the lowest offset where it meets no value that lives at the same time. Sizes
// of a page and more are stretched to an odd number of cache lines past a page, so that neighbours begin at different
// page offsets: loads and stores at equal offsets hold each other up.
#include "compute/planner/plan.hpp"

namespace troupe {
namespace {

constexpr int64_t line = 64, page = 4096, stagger = 5 * line;

struct tenant {
  int64_t bytes = 0;
  int first = 0, last = 0;   ///< Calls.
  int32_t value = -1;        ///< -1: the workspace of call `first`.
  int64_t offset = -1;
};

int64_t stretched(int64_t bytes) {
  bytes = std::max(line, (bytes + line - 1) / line * line);
  return bytes < page ? bytes : (bytes + page - 1) / page * page + stagger;
}

void find_lifetimes(plan& p) {
  const int end = static_cast<int>(p.calls.size());
  const auto touch = [&](int32_t i, int call) {
    auto& v = p.value(p.root(i));
    if (v.first < 0)
      v.first = call;
    v.last = std::max(v.last, call);
  };
  for (int c = 0; c < end; ++c) {
    for (int32_t i : p.calls[static_cast<size_t>(c)].in)
      touch(i, c);
    for (int32_t i : p.calls[static_cast<size_t>(c)].out)
      touch(i, c);
  }
  for (size_t i = 0; i < p.values.size(); ++i)
    if (p.values[i].keep)
      p.value(p.root(static_cast<int32_t>(i))).last = end;
  // Constants are written while planning, feeds (where they are copied) before the first call.
  for (auto& v : p.values)
    if (v.constant.elements() > 0 && v.first >= 0) {
      v.first = 0;
      v.last = end;
    }
}

/// An operation that allows it writes its last output over an operand that dies with it.
void reuse_operands(plan& p) {
  for (int c = 0; c < static_cast<int>(p.calls.size()); ++c) {
    const auto& call = p.calls[static_cast<size_t>(c)];
    const int32_t out = call.out.back();
    if (!call.op->in_place || p.value(out).where.offset >= 0 || p.root(out) != out)
      continue;
    for (int32_t i : call.in) {
      const int32_t r = p.root(i);
      auto& from = p.value(r);
      if (from.read_only || from.where.offset >= 0 || from.last != c || from.first == c || from.type != p.value(out).type
          || from.bytes() != p.value(out).bytes() || p.value(i).dims != p.value(out).dims)
        continue;
      from.last = std::max(from.last, p.value(out).last);
      p.value(out).view_of = r;
      break;
    }
  }
}

bool meet(const tenant& a, const tenant& b) { return a.first <= b.last && b.first <= a.last; }

/// Those that are placed lie in the order of their offsets.
int64_t lowest_gap(const tenant& t, const std::vector<tenant>& placed) {
  int64_t offset = 0;
  for (const auto& other : placed)
    if (meet(t, other) && other.offset < offset + t.bytes)
      offset = std::max(offset, other.offset + other.bytes);
  return offset;
}

}  // namespace

void place(plan& p) {
  find_lifetimes(p);
  reuse_operands(p);
  std::vector<tenant> waiting, placed;
  for (size_t i = 0; i < p.values.size(); ++i) {
    const auto& v = p.values[i];
    const bool fed_copy = v.feed >= 0 && v.first >= 0;
    if (v.view_of < 0 && v.first >= 0 && (v.where.offset < 0 || fed_copy))
      waiting.push_back({stretched(v.bytes()), fed_copy ? 0 : v.first, v.last, static_cast<int32_t>(i)});
  }
  for (size_t c = 0; c < p.calls.size(); ++c) {
    auto& call = p.calls[c];
    call.workspace_bytes = call.op->workspace ? call.op->workspace(lowering{p, call}) : 0;
    if (call.workspace_bytes > 0)
      waiting.push_back({stretched(call.workspace_bytes), static_cast<int>(c), static_cast<int>(c), -1});
  }
  std::stable_sort(waiting.begin(), waiting.end(), [](const tenant& a, const tenant& b) { return a.bytes > b.bytes; });
  for (auto& t : waiting) {
    t.offset = lowest_gap(t, placed);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), t, [](const tenant& a, const tenant& b) { return a.offset < b.offset; }), t);
    p.arena_bytes = std::max(p.arena_bytes, t.offset + t.bytes);
    if (t.value < 0)
      p.calls[static_cast<size_t>(t.first)].workspace_offset = t.offset;
    else if (auto& v = p.value(t.value); v.feed >= 0)
      v.copy_offset = t.offset;
    else
      v.where = {base_arena, t.offset};
  }
}

}  // namespace troupe
