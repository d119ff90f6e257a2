// Fuses element-wise calls over the same elements into one call, which saves a sweep over memory for each.
//
// A group runs at the position of its last call. Its earlier calls are delayed, so no call in between may read their
// values. A group is closed when a call outside it reads one of its values, and when it is full.
#include "compute/operations/walk.hpp"
#include "compute/planner/program_draft.hpp"

#include <map>

namespace troupe {
namespace {

/// Each row of a grid costs kernel calls of its own, which pay only if the row has at least this many columns.
constexpr int64_t columns_least = 64;

struct grid {
  int64_t rows = 1, columns = 0;
  /// By operand, in elements: from row to row and from column to column.
  std::vector<std::pair<int64_t, int64_t>> strides;
};

/// The loops over `out` as rows and columns; nothing when the operands' strides need more loops, or rows are too short.
std::optional<grid> grid_of(const shape& out, const std::vector<shape>& operands) {
  std::vector<strides> all;
  for (const shape& s : operands)
    all.push_back(stretched(out, s));
  grid g;
  std::vector<int64_t> extents;
  std::vector<std::vector<int64_t>> loops;  // By loop: the strides of the operands.
  for (int i = 0; i < out.rank(); ++i) {
    if (out[i] == 1)
      continue;
    std::vector<int64_t> own;
    for (const auto& s : all)
      own.push_back(s[static_cast<size_t>(i)]);
    bool even = !loops.empty();
    for (size_t o = 0; even && o < own.size(); ++o)
      even = loops.back()[o] == own[o] * out[i];
    if (even) {
      extents.back() *= out[i];
      loops.back() = own;
    } else {
      extents.push_back(out[i]);
      loops.push_back(own);
    }
  }
  if (loops.empty()) {
    extents.push_back(1);
    loops.emplace_back(all.size(), 0);
  }
  if (loops.size() > 2 || out.elements() == 0 || (loops.size() == 2 && extents[1] < columns_least))
    return {};
  g.columns = extents.back();
  g.rows = loops.size() == 2 ? extents[0] : 1;
  for (size_t o = 0; o < all.size(); ++o)
    g.strides.emplace_back(loops.size() == 2 ? loops[0][o] : 0, loops.back()[o]);
  return g;
}

/// The scratch memory of a fused call.
struct anatomy {
  std::map<int32_t, int> slots;  ///< By value internal to the call: its slot of scratch memory.
  int slot_count = 0;
};

anatomy dissect(const planned_values& p, const planned_call& c) {
  anatomy a;
  std::map<int32_t, size_t> last;
  for (size_t i = 0; i < c.fused.size(); ++i)
    for (int32_t in : c.fused[i].in)
      last[p.root(in)] = i;
  std::vector<int> free;
  for (size_t i = 0; i < c.fused.size(); ++i) {
    const int32_t out = p.root(c.fused[i].out[0]);
    if (std::none_of(c.out.begin(), c.out.end(), [&](int32_t o) { return p.root(o) == out; })) {
      if (free.empty())
        free.push_back(a.slot_count++);
      a.slots[out] = free.back();
      free.pop_back();
    }
    for (const auto& [value, slot] : a.slots)
      if (last.contains(value) && last[value] == i)
        free.push_back(slot);
  }
  return a;
}

constexpr int64_t slot_bytes = fused_chunk * 8;

int64_t workspace_of_fused(const lowering& l) { return dissect(l.values(), l.call).slot_count * slot_bytes; }

void lower_fused(lowering& l) {
  planned_values& p = l.values();
  const anatomy a = dissect(p, l.call);
  std::vector<shape> operands;
  for (const auto& one : l.call.fused)
    for (int32_t in : one.in)
      operands.push_back(p.value(in).dims);
  const grid g = *grid_of(l.out().dims, operands);
  fused_body& body = l.new_body();
  body.rows = g.rows;
  body.columns = g.columns;
  size_t at = 0;
  for (const auto& one : l.call.fused) {
    lowering alone{p, one};
    one.op->lower(alone);
    fused_call f;
    f.call = alone.kernel;
    f.operands = static_cast<int>(one.in.size()) + 1;
    f.strides.rank = 1;
    const auto place = [&](int o, int32_t value, std::pair<int64_t, int64_t> stride) {
      const int64_t size = size_of(p.value(value).type);
      if (o + 1 < f.operands)
        f.strides.stride[o][0] = stride.second;
      if (const auto slot = a.slots.find(p.root(value)); slot != a.slots.end())
        f.call.at[o] = {base_arena, l.workspace().offset + slot->second * slot_bytes};
      else
        f.step[o] = {stride.first * size, stride.second * size};
    };
    for (size_t o = 0; o < one.in.size(); ++o)
      place(static_cast<int>(o), one.in[o], g.strides[at++]);
    place(f.operands - 1, one.out[0], {g.columns, 1});
    body.calls.push_back(std::move(f));
  }
  l.kernel.fused = &body;
  l.kernel.run = run_fused;
  if (body.rows >= l.call.shares)
    l.division = {.items = body.rows, .extent = fused_rows};
  else
    l.division = {.items = body.columns, .unit = fused_chunk, .extent = fused_columns};
}

/// Calls to be fused, by their index.
struct group {
  std::vector<size_t> calls;
};

class grouping {
 public:
  explicit grouping(program_draft& p) : draft_(p), kept_(p.values.size()), reads_(p.values.size()) {
    for (size_t v = 0; v < p.values.size(); ++v)
      if (p.values[v].keep)
        kept_[root(static_cast<int32_t>(v))] = true;
    for (const auto& c : p.calls)
      if (!c.removed)
        count(c.in, 1);
  }

  void run() {
    for (size_t c = 0; c < draft_.calls.size(); ++c) {
      const auto& call = draft_.calls[c];
      if (call.removed)
        continue;
      const bool joins = call.op->elementwise && call.out.size() == 1 && draft_.root(call.out[0]) == call.out[0];
      const auto key = std::pair{dims_of(c), call.recording};
      // A call that reads a value of an open group joins it or closes it.
      std::erase_if(open_, [&](auto& g) {
        return !(joins && g.first == key) && reads(call, g.second) && (close(g.second), true);
      });
      if (!joins)
        continue;
      auto& g = open_[key];
      g.calls.push_back(c);
      if (static_cast<int>(g.calls.size()) > fused_calls_max || !fits(g)) {
        g.calls.pop_back();
        close(g);
        g.calls = {c};
        if (!fits(g))
          open_.erase(key);
      }
    }
    for (auto& [key, g] : open_)
      close(g);
  }

 private:
  using group_key = std::pair<std::vector<int64_t>, recording_set>;

  std::vector<int64_t> dims_of(size_t c) const {
    const auto extents = draft_.value(draft_.calls[c].out[0]).dims.extents();
    return {extents.begin(), extents.end()};
  }

  bool reads(const planned_call& call, const group& g) const {
    for (int32_t in : call.in)
      for (size_t member : g.calls)
        if (draft_.root(in) == draft_.root(draft_.calls[member].out[0]))
          return true;
    return false;
  }

  bool fits(const group& g) const {
    std::vector<shape> operands;
    for (size_t c : g.calls)
      for (int32_t in : draft_.calls[c].in)
        operands.push_back(draft_.value(in).dims);
    return grid_of(draft_.value(draft_.calls[g.calls[0]].out[0]).dims, operands).has_value();
  }

  size_t root(int32_t value) const { return static_cast<size_t>(draft_.root(value)); }

  void count(const std::vector<int32_t>& values, int by) {
    for (int32_t v : values)
      reads_[root(v)] += by;
  }

  /// Whether a call outside the group reads the value, or the value must be kept.
  bool seen_outside(const group& g, int32_t value) const {
    int inside = 0;
    for (size_t c : g.calls)
      for (int32_t in : draft_.calls[c].in)
        inside += draft_.root(in) == value;
    return kept_[static_cast<size_t>(value)] || reads_[static_cast<size_t>(value)] > inside;
  }

  void close(const group& g) {
    if (g.calls.size() < 2)
      return;
    planned_call whole{.op = &ops::fused};
    whole.recording = draft_.calls[g.calls[0]].recording;
    std::vector<int32_t> made;
    for (size_t c : g.calls) {
      const auto& one = draft_.calls[c];
      for (int32_t in : one.in)
        if (std::find(made.begin(), made.end(), draft_.root(in)) == made.end()
            && std::find(whole.in.begin(), whole.in.end(), in) == whole.in.end())
          whole.in.push_back(in);
      made.push_back(one.out[0]);
      whole.nodes.insert(whole.nodes.end(), one.nodes.begin(), one.nodes.end());
    }
    for (size_t c : g.calls)
      if (c == g.calls.back() || seen_outside(g, draft_.calls[c].out[0]))
        whole.out.push_back(draft_.calls[c].out[0]);
    count(whole.in, 1);
    for (size_t c : g.calls) {
      count(draft_.calls[c].in, -1);
      whole.fused.push_back(draft_.calls[c]);
      draft_.calls[c].removed = true;
    }
    draft_.calls[g.calls.back()] = std::move(whole);
  }

  program_draft& draft_;
  std::map<group_key, group> open_;
  std::vector<bool> kept_;  ///< By value: whether it, or one that shares its memory, must be kept.
  std::vector<int> reads_;  ///< By value: how often calls read it.
};

}  // namespace

namespace ops {
const operation fused{.name = "fused",
                      .no_gradient = "made by the planner",
                      .lower = lower_fused,
                      .workspace = workspace_of_fused,
                      .in_place = true};
}  // namespace ops

void fuse_elementwise(program_draft& p) {
  grouping{p}.run();
  std::erase_if(p.calls, [](const planned_call& c) { return c.removed; });
}

}  // namespace troupe
