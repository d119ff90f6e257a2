// Copy elision. A slice that is contiguous in its operand becomes a view of it. The operands of a concatenation that
// are contiguous in the result are computed in place.
//
// A view keeps its whole operand alive. If less than half of that memory would be used, the copy stays.
#include "compute/planner/program_draft.hpp"

namespace troupe {
namespace {

constexpr int64_t line = 64;  ///< Views begin at cache lines, as separate values do.

/// Whether the elements of `part` are contiguous in the value that it is cut from; `last` is the innermost axis that is
/// cut.
bool is_one_piece(const shape& part, int last) {
  for (int axis = 0; axis < last; ++axis)
    if (part[axis] != 1)
      return false;
  return true;
}

class elision {
 public:
  explicit elision(program_draft& p) : draft_(p), made_(p.values.size()), last_use_(p.values.size(), -1) {
    for (size_t c = 0; c < p.calls.size(); ++c) {
      for (int32_t in : p.calls[c].in)
        last_use_[root(in)] = static_cast<int>(c);
      for (int32_t out : p.calls[c].out)
        made_[root(out)] = true;
    }
    for (size_t v = 0; v < p.values.size(); ++v)
      if (p.values[v].keep || p.values[v].read_only)  // They stay in memory to the end in any case.
        last_use_[root(static_cast<int32_t>(v))] = static_cast<int>(p.calls.size());
  }

  void run() {
    view_slices();
    make_parts_in_place();
    std::erase_if(draft_.calls, [](const planned_call& c) { return c.removed; });
  }

 private:
  size_t root(int32_t value) const { return static_cast<size_t>(draft_.root(value)); }

  /// Whether the value's location can still be chosen.
  bool is_free(int32_t value) const {
    const auto& v = draft_.value(value);
    return v.view_of < 0 && v.where.offset < 0 && !v.read_only && v.bytes() > 0 && v.constant.elements() == 0
           && made_[static_cast<size_t>(value)];
  }

  /// Offset of the slice from the beginning of the operand, in bytes; nothing when the slice has to be copied.
  std::optional<int64_t> offset_of(const planned_call& c) const {
    if (c.removed || c.op != &ops::strided_slice || !is_free(c.out[0]) || draft_.value(c.out[0]).keep)
      return {};
    const shape &from = draft_.value(c.in[0]).dims, &out = draft_.value(c.out[0]).dims;
    int64_t offset = 0, stride = size_of(draft_.value(c.in[0]).type);
    int last = 0;
    for (int axis = from.rank() - 1; axis >= 0; --axis) {
      const auto a = static_cast<size_t>(axis);
      if (c.attr.step[a] != 1)
        return {};
      if (out[axis] != from[axis])
        last = std::max(last, axis);
      offset += c.attr.low[a] * stride;
      stride *= from[axis];
    }
    return is_one_piece(out, last) && offset % line == 0 ? std::optional{offset} : std::nullopt;
  }

  void view_slices() {
    // By operand: the last call that reads it other than by slices, and how many of its bytes slices read after that.
    std::vector<int> until(draft_.values.size(), -1);
    std::vector<int64_t> longer(draft_.values.size());
    for (size_t c = 0; c < draft_.calls.size(); ++c)
      if (!offset_of(draft_.calls[c]))
        for (int32_t in : draft_.calls[c].in)
          until[root(in)] = static_cast<int>(c);
    for (size_t v = 0; v < until.size(); ++v)
      if (last_use_[v] == static_cast<int>(draft_.calls.size()))
        until[v] = last_use_[v];
    for (const auto& c : draft_.calls)
      if (offset_of(c) && last_use_[root(c.out[0])] > until[root(c.in[0])])
        longer[root(c.in[0])] += draft_.value(c.out[0]).bytes();
    std::vector<std::pair<planned_call*, int64_t>> views;
    for (auto& c : draft_.calls)
      if (const auto offset = offset_of(c)) {
        const size_t whole = root(c.in[0]);
        if (last_use_[root(c.out[0])] <= until[whole] || 2 * longer[whole] >= draft_.values[whole].bytes())
          views.emplace_back(&c, *offset);
      }
    for (const auto& [c, offset] : views) {
      auto& v = draft_.value(c->out[0]);
      const int last = last_use_[static_cast<size_t>(c->out[0])];
      v.view_of = c->in[0];
      v.view_offset = offset;
      const size_t whole = root(c->in[0]);
      v.read_only = draft_.values[whole].read_only;
      last_use_[whole] = std::max(last_use_[whole], last);
      c->removed = true;
    }
  }

  bool can_be_in_place(const planned_call& c) const {
    const auto& whole = draft_.value(c.out[0]);
    if (c.removed || c.op != &ops::concat || whole.bytes() == 0 || !is_one_piece(whole.dims, c.attr.axis))
      return false;
    for (int32_t part : c.in)
      if (draft_.value(part).bytes() % line != 0)
        return false;
    return true;
  }

  /// Whether the operand of a concatenation can be computed within the whole, lifetimes aside.
  bool can_move(int32_t part, int32_t whole) const {
    const auto r = static_cast<int32_t>(root(part));
    return is_free(r) && draft_.value(r).bytes() == draft_.value(part).bytes() && r != draft_.root(whole);
  }

  /// Goes backwards, so that the result of a nested concatenation has its place before its own operands get theirs.
  void make_parts_in_place() {
    std::vector<planned_call> backwards;
    for (size_t c = draft_.calls.size(); c-- > 0;) {
      planned_call& call = draft_.calls[c];
      if (!can_be_in_place(call) || !place_parts(call, backwards))
        backwards.push_back(std::move(call));
    }
    draft_.calls.assign(std::make_move_iterator(backwards.rbegin()), std::make_move_iterator(backwards.rend()));
  }

  /// Places the operands of a concatenation in its result and adds copies of the others. False if all would be copied.
  bool place_parts(const planned_call& c, std::vector<planned_call>& copies) {
    const int32_t whole = c.out[0];
    const int until = last_use_[root(whole)];
    const auto outlives = [&](int32_t part) { return last_use_[root(part)] > until; };
    int64_t longer = 0;
    for (int32_t part : c.in)
      if (can_move(part, whole) && outlives(part))
        longer += draft_.value(part).bytes();
    const bool hold = 2 * longer >= draft_.value(whole).bytes();
    const auto moves = [&](int32_t part) { return can_move(part, whole) && (hold || !outlives(part)); };
    if (std::none_of(c.in.begin(), c.in.end(), moves))
      return false;
    int64_t offset = 0;
    for (int32_t part : c.in) {
      const int64_t bytes = draft_.value(part).bytes();
      if (moves(part)) {
        auto& v = draft_.values[root(part)];
        last_use_[root(whole)] = std::max(last_use_[root(whole)], last_use_[root(part)]);
        v.view_of = whole;
        v.view_offset = offset;
      } else if (bytes > 0) {
        copies.push_back(copy_into(whole, offset, part, c));
      }
      offset += bytes;
    }
    return true;
  }

  planned_call copy_into(int32_t whole, int64_t offset, int32_t part, const planned_call& c) {
    const int32_t to = add_copy_of(draft_, part);
    draft_.value(to).view_of = whole;
    draft_.value(to).view_offset = offset;
    made_.push_back(true);
    last_use_.push_back(-1);
    planned_call copy{.op = &ops::copy, .in = {part}, .out = {to}};
    copy.recording = c.recording;
    return copy;
  }

  program_draft& draft_;
  std::vector<bool> made_;     ///< By value: a call yields it or a value that shares its memory.
  std::vector<int> last_use_;  ///< By root: the last call that reads it.
};

}  // namespace

void elide_copies(program_draft& p) { elision{p}.run(); }

}  // namespace troupe
