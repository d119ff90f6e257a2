// Rematerialisation: forward values that the gradients need are recomputed where that saves memory.
//
// Only calls without matrix multiplications are repeated. The values kept from the forward to the backward pass are a
// minimum cut, weighted in bytes, between values that cannot be recomputed and values that the gradients read. This is
// the selection of Jain et al. 2020 ("Checkmate") without a price for time, as in torch's min-cut partitioner. Of equal
// cuts, the one that computes least is taken. Calls depend on their operands and keys alone, so the bits are the same.
#include "compute/planner/program_draft.hpp"

#include <limits>
#include <map>

namespace troupe {
namespace {

constexpr int64_t unlimited = std::numeric_limits<int64_t>::max() / 4;

/// A flow network and its maximum flow: Dinic 1970.
class network {
 public:
  int32_t node() {
    leaving_.emplace_back();
    return static_cast<int32_t>(leaving_.size()) - 1;
  }
  void edge(int32_t from, int32_t to, int64_t capacity) {
    for (const auto& [a, b, c] : {std::tuple{from, to, capacity}, std::tuple{to, from, int64_t{0}}}) {
      leaving_[static_cast<size_t>(a)].push_back(edges_.size());
      edges_.push_back({b, c});
    }
  }
  void saturate(int32_t source, int32_t sink) {
    while (find_levels(source), level_[static_cast<size_t>(sink)] >= 0) {
      next_.assign(leaving_.size(), 0);
      while (push(source, sink, unlimited) > 0) {}
    }
  }
  /// By node: whether more could still flow from it to the sink.
  std::vector<bool> before(int32_t sink) const {
    std::vector<bool> found(leaving_.size());
    std::vector<int32_t> open{sink};
    found[static_cast<size_t>(sink)] = true;
    while (!open.empty()) {
      const auto at = static_cast<size_t>(open.back());
      open.pop_back();
      for (size_t e : leaving_[at])
        if (const auto from = static_cast<size_t>(edges_[e].to); edges_[e ^ 1].capacity > 0 && !found[from]) {
          found[from] = true;
          open.push_back(edges_[e].to);
        }
    }
    return found;
  }

 private:
  struct half {
    int32_t to;
    int64_t capacity;
  };  // The reverse of edge e is edge e ^ 1.

  void find_levels(int32_t source) {
    level_.assign(leaving_.size(), -1);
    level_[static_cast<size_t>(source)] = 0;
    std::vector<int32_t> open{source};
    for (size_t i = 0; i < open.size(); ++i)
      for (size_t e : leaving_[static_cast<size_t>(open[i])])
        if (auto& level = level_[static_cast<size_t>(edges_[e].to)]; edges_[e].capacity > 0 && level < 0) {
          level = level_[static_cast<size_t>(open[i])] + 1;
          open.push_back(edges_[e].to);
        }
  }
  int64_t push(int32_t at, int32_t sink, int64_t most) {
    if (at == sink)
      return most;
    const auto here = static_cast<size_t>(at);
    for (; next_[here] < leaving_[here].size(); ++next_[here]) {
      const size_t e = leaving_[here][next_[here]];
      if (edges_[e].capacity == 0 || level_[static_cast<size_t>(edges_[e].to)] != level_[here] + 1)
        continue;
      if (const int64_t flow = push(edges_[e].to, sink, std::min(most, edges_[e].capacity)); flow > 0) {
        edges_[e].capacity -= flow;
        edges_[e ^ 1].capacity += flow;
        return flow;
      }
    }
    return 0;
  }

  std::vector<half> edges_;
  std::vector<std::vector<size_t>> leaving_;
  std::vector<int> level_;
  std::vector<size_t> next_;
};

class recomputation {
 public:
  recomputation(program_draft& p, int32_t gradients_from)
    : draft_(p), gradients_from_(gradients_from), calls_(std::move(p.calls)), made_by_(p.values.size(), -1),
      kept_(p.values.size()) {
    for (size_t v = 0; v < p.values.size(); ++v)
      if (p.values[v].keep)
        kept_[static_cast<size_t>(p.root(static_cast<int32_t>(v)))] = true;
    for (size_t c = 0; c < calls_.size(); ++c)
      for (int32_t out : calls_[c].out)
        if (is_forward(calls_[c]))
          made_by_[static_cast<size_t>(out)] = static_cast<int32_t>(c);
  }

  void run() {
    choose();
    draft_.calls.clear();
    for (planned_call c : calls_) {
      if (!is_forward(c))
        for (int32_t& in : c.in)
          in = again(in);
      draft_.calls.push_back(std::move(c));
    }
  }

 private:
  bool is_forward(const planned_call& c) const { return c.out[0] < gradients_from_; }
  /// Whether a forward call yields the value and it is not kept to the end: only the forward pass and the gradients use
  /// it.
  bool passes_over(int32_t root) const {
    return made_by_[static_cast<size_t>(root)] >= 0 && !kept_[static_cast<size_t>(root)];
  }
  const planned_call& maker(int32_t root) const {
    return calls_[static_cast<size_t>(made_by_[static_cast<size_t>(root)])];
  }
  bool repeatable(int32_t root) const { return !maker(root).op->flops && maker(root).out.size() == 1; }

  /// Finds the minimum cut and fills `stored_`.
  void choose() {
    const int32_t source = network_.node(), sink = network_.node();
    for (const auto& c : calls_)
      if (!is_forward(c))
        for (int32_t in : c.in)
          if (const int32_t r = draft_.root(in); passes_over(r))
            network_.edge(gate(r, source) + 1, sink, unlimited);
    network_.saturate(source, sink);
    const auto late = network_.before(sink);
    for (const auto& [root, in] : gates_)
      stored_[root] = !late[static_cast<size_t>(in)];
  }

  /// The input node of the value's gate. The node after it is the output, and the edge between them has the value's
  /// size in bytes.
  int32_t gate(int32_t root, int32_t source) {
    if (const auto known = gates_.find(root); known != gates_.end())
      return known->second;
    const int32_t in = gates_[root] = network_.node(), out = network_.node();
    network_.edge(in, out, draft_.value(root).bytes());
    if (!repeatable(root)) {
      network_.edge(source, in, unlimited);
      return in;
    }
    for (int32_t operand : maker(root).in)
      if (const int32_t r = draft_.root(operand); passes_over(r))
        network_.edge(gate(r, source) + 1, in, unlimited);
    return in;
  }

  /// The value to read in place of `value`: itself, or a copy recomputed here.
  int32_t again(int32_t value) {
    const int32_t r = draft_.root(value);
    if (!passes_over(r) || !repeatable(r) || stored_.at(r))
      return value;
    if (const auto known = again_.find(value); known != again_.end())
      return known->second;
    if (value != r) {
      const int32_t whole = again(r);
      return add(value, whole);
    }
    planned_call c = maker(r);
    for (int32_t& in : c.in)
      in = again(in);
    c.out = {add(r, -1)};
    draft_.calls.push_back(c);
    return c.out[0];
  }

  int32_t add(int32_t like, int32_t view_of) {
    planned_value v = draft_.value(like);
    v.view_of = view_of;
    draft_.values.push_back(std::move(v));
    return again_[like] = static_cast<int32_t>(draft_.values.size()) - 1;
  }

  program_draft& draft_;
  int32_t gradients_from_;
  std::vector<planned_call> calls_;  ///< The original calls.
  std::vector<int32_t> made_by_;     ///< By value: the forward call that yields it, or -1.
  std::vector<bool> kept_;           ///< By root: stays in the arena to the end in any case.
  network network_;
  std::map<int32_t, int32_t> gates_;  ///< By root: the input node of its gate.
  std::map<int32_t, bool> stored_;    ///< By root: kept from the forward pass to the gradients.
  std::map<int32_t, int32_t> again_;  ///< Recomputed values, by the value that they equal.
};

}  // namespace

void recompute(program_draft& p, int32_t gradients_from) {
  recomputation{p, gradients_from}.run();
  remove_dead_code(p);
}

}  // namespace troupe
