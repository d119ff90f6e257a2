// Buffer assignment: every value and workspace gets its bytes of one arena for exactly its lifetime.
//
// Values are placed largest first, each at the lowest offset where it overlaps no value that lives at the same time
// (Pisarchyk & Lee 2020, "Efficient memory management for deep neural net inference", greedy by size, with the lowest
// gap in place of the smallest). If more than a hundredth of that arena is unused, other orders are tried, and the
// smallest arena is kept. Sizes of a page or more are padded to end at least some cache lines past a page boundary, so
// that neighbours begin at different page offsets: loads and stores at equal offsets delay each other.
#include "compute/planner/program_draft.hpp"

namespace troupe {
namespace {

constexpr int64_t line = 64, page = 4096, stagger = 5 * line;

struct tenant {
  int64_t bytes = 0;        ///< Size with padding.
  int64_t used = 0;         ///< Size without padding.
  int first = 0, last = 0;  ///< Lifetime: the first and the last call.
  int32_t value = -1;       ///< -1: the workspace of call `first`.
  int64_t offset = -1;
};

int64_t whole_lines(int64_t bytes) { return (bytes + line - 1) / line * line; }

int64_t stretched(int64_t bytes) {
  bytes = std::max(line, whole_lines(bytes));
  return bytes < page ? bytes : bytes + std::max<int64_t>(0, stagger - bytes % page);
}

void find_lifetimes(program_draft& p) {
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
  // Constants are written once, while planning, so they live through the whole run.
  for (auto& v : p.values)
    if (v.constant.elements() > 0 && v.first >= 0) {
      v.first = 0;
      v.last = end;
    }
}

/// Whether the call also reads memory of `root` in another shape than `dims`. Such an operand, a slice that is a view
/// and is broadcast to the output, is still read after other elements have been written.
bool reads_otherwise(const program_draft& p, const planned_call& call, int32_t root, const shape& dims) {
  return std::any_of(call.in.begin(), call.in.end(),
                     [&](int32_t i) { return p.root(i) == root && p.value(i).dims != dims; });
}

/// In-place update: an operation that allows it writes its last output over an operand that no later call reads.
void reuse_operands(program_draft& p) {
  for (int c = 0; c < static_cast<int>(p.calls.size()); ++c) {
    const auto& call = p.calls[static_cast<size_t>(c)];
    const int32_t out = call.out.back();
    if (!call.op->in_place || p.value(out).where.offset >= 0 || p.root(out) != out)
      continue;
    for (int32_t i : call.in) {
      const int32_t r = p.root(i);
      auto& from = p.value(r);
      if (from.read_only || from.where.offset >= 0 || from.last != c || from.first == c
          || from.type != p.value(out).type || from.bytes() != p.value(out).bytes()
          || p.value(i).dims != p.value(out).dims || reads_otherwise(p, call, r, p.value(out).dims))
        continue;
      from.last = std::max(from.last, p.value(out).last);
      p.value(out).view_of = r;
      break;
    }
  }
}

bool meet(const tenant& a, const tenant& b) { return a.first <= b.last && b.first <= a.last; }

/// The lowest offset at which `t` fits; `placed` is sorted by offset.
int64_t lowest_gap(const tenant& t, const std::vector<tenant>& placed) {
  int64_t offset = 0;
  for (const auto& other : placed) {
    if (other.offset >= offset + t.bytes)
      break;
    if (meet(t, other))
      offset = std::max(offset, other.offset + other.bytes);
  }
  return offset;
}

struct arrangement {
  std::vector<tenant> placed;
  int64_t bytes = 0;
};

/// Places tenants one after the other, by descending `key`.
template <class Key>
arrangement arrange(std::vector<tenant> waiting, Key key) {
  std::stable_sort(waiting.begin(), waiting.end(), [&](const tenant& a, const tenant& b) { return key(a) > key(b); });
  arrangement all;
  for (auto& t : waiting) {
    t.offset = lowest_gap(t, all.placed);
    const auto below = [](const tenant& a, const tenant& b) { return a.offset < b.offset; };
    all.placed.insert(std::upper_bound(all.placed.begin(), all.placed.end(), t, below), t);
    all.bytes = std::max(all.bytes, t.offset + t.bytes);
  }
  return all;
}

arrangement smallest(const std::vector<tenant>& waiting, int64_t least) {
  const auto good = [least](const arrangement& a) { return a.bytes <= least + least / 100; };
  const auto calls = [](const tenant& t) { return static_cast<int64_t>(t.last - t.first + 1); };
  arrangement best = arrange(waiting, [](const tenant& t) { return t.bytes; });
  const auto consider = [&](auto key) {
    if (good(best))
      return;
    if (auto other = arrange(waiting, key); other.bytes < best.bytes)
      best = std::move(other);
  };
  consider([&](const tenant& t) { return t.bytes * calls(t); });
  consider([&](const tenant& t) { return std::pair{calls(t), t.bytes}; });
  consider([](const tenant& t) { return std::pair{-t.first, t.bytes}; });
  consider([](const tenant& t) { return std::pair{t.last, t.bytes}; });
  return best;
}

int64_t most_at_once(const std::vector<tenant>& all, size_t calls) {
  std::vector<int64_t> change(calls + 2);
  for (const auto& t : all) {
    change[static_cast<size_t>(t.first)] += t.used;
    change[static_cast<size_t>(t.last) + 1] -= t.used;
  }
  int64_t most = 0, now = 0;
  for (int64_t c : change)
    most = std::max(most, now += c);
  return most;
}

}  // namespace

void assign_buffers(program_draft& p) {
  find_lifetimes(p);
  reuse_operands(p);
  std::vector<tenant> waiting;
  for (size_t i = 0; i < p.values.size(); ++i) {
    const auto& v = p.values[i];
    const bool fed_copy = v.feed >= 0 && v.first >= 0;
    if (v.view_of < 0 && v.first >= 0 && (v.where.offset < 0 || fed_copy))
      waiting.push_back({stretched(v.bytes()), v.bytes(), fed_copy ? 0 : v.first, v.last, static_cast<int32_t>(i)});
  }
  for (size_t c = 0; c < p.calls.size(); ++c) {
    auto& call = p.calls[c];
    call.workspace_bytes = call.op->workspace ? whole_lines(call.op->workspace(lowering{p, call})) : 0;
    if (call.workspace_bytes > 0)
      waiting.push_back({stretched(call.workspace_bytes * call.shares), call.workspace_bytes * call.shares,
                         static_cast<int>(c), static_cast<int>(c), -1});
  }
  p.live_bytes_max = most_at_once(waiting, p.calls.size());
  const arrangement found = smallest(waiting, p.live_bytes_max);
  p.arena_bytes = found.bytes;
  for (const auto& t : found.placed) {
    if (t.value < 0)
      p.calls[static_cast<size_t>(t.first)].workspace_offset = t.offset;
    else if (auto& v = p.value(t.value); v.feed >= 0)
      v.copy_offset = t.offset;
    else
      v.where = {base_arena, t.offset};
  }
}

}  // namespace troupe
