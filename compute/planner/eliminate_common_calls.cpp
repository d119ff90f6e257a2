// Common subexpression elimination: of calls that would yield the same bits, only the first is kept.
//
// Random operations have a key among their attributes, so no two are equal unless they are meant to be.
#include "compute/planner/program_draft.hpp"

#include <bit>
#include <map>

namespace troupe {
namespace {

/// Whether both calls would yield the same bits from the same operands. Numbers are compared as bits: 0 and -0 differ.
bool alike(const program_draft& p, const planned_call& a, const planned_call& b) {
  const auto bits = [](double x) { return std::bit_cast<uint64_t>(x); };
  const auto &x = p.value(a.out[0]), &y = p.value(b.out[0]);
  auto other = b.attr;
  other.number = a.attr.number;
  other.number2 = a.attr.number2;
  return a.attr == other && bits(a.attr.number) == bits(b.attr.number) && bits(a.attr.number2) == bits(b.attr.number2)
         && a.divisor == b.divisor && x.type == y.type && x.dims == y.dims;
}

bool same_bytes(const tensor& a, const tensor& b) {
  return a.type() == b.type() && a.dims() == b.dims() && a.byte_size() == b.byte_size()
         && std::memcmp(a.data(), b.data(), static_cast<size_t>(a.byte_size())) == 0;
}

/// Value numbering, in the order of the graph: the operands of a value come before it.
class sharing {
 public:
  explicit sharing(program_draft& p) : draft_(p), same_(p.values.size()), call_of_(p.values.size(), -1) {
    for (size_t c = 0; c < p.calls.size(); ++c)
      call_of_[static_cast<size_t>(p.calls[c].out[0])] = static_cast<int32_t>(c);
  }

  void run() {
    for (size_t i = 0; i < draft_.values.size(); ++i) {
      const auto value = static_cast<int32_t>(i);
      auto& v = draft_.value(value);
      same_[i] = value;
      if (v.constant.elements() > 0)
        same_[i] = equal_constant(value);
      else if (v.view_of >= 0)
        look_alike(value);
      else if (call_of_[i] >= 0)
        make_once(value, draft_.calls[static_cast<size_t>(call_of_[i])]);
    }
    std::erase_if(draft_.calls, [](const planned_call& c) { return c.removed; });
  }

 private:
  int32_t same(int32_t value) const { return same_[static_cast<size_t>(value)]; }

  int32_t equal_constant(int32_t value) {
    for (int32_t earlier : constants_)
      if (same_bytes(draft_.value(earlier).constant, draft_.value(value).constant))
        return earlier;
    constants_.push_back(value);
    return value;
  }

  /// Views of one value with the same shape are equal.
  void look_alike(int32_t value) {
    auto& v = draft_.value(value);
    v.view_of = same(v.view_of);
    auto& others = views_[draft_.root(v.view_of)];
    for (int32_t earlier : others)
      if (draft_.value(earlier).dims == v.dims) {
        same_[static_cast<size_t>(value)] = earlier;
        return;
      }
    others.push_back(value);
  }

  void make_once(int32_t value, planned_call& c) {
    if (c.removed)
      return;
    for (int32_t& in : c.in)
      in = same(in);
    auto& others = calls_[{c.op, c.in}];
    for (int32_t earlier : others)
      if (alike(draft_, draft_.calls[static_cast<size_t>(earlier)], c)) {
        const int32_t first = draft_.calls[static_cast<size_t>(earlier)].out[0];
        same_[static_cast<size_t>(value)] = first;
        if (draft_.value(value).keep)  // The value is read after the run, so it becomes a view of the first.
          draft_.value(value).view_of = first;
        c.removed = true;
        return;
      }
    others.push_back(call_of_[static_cast<size_t>(value)]);
  }

  program_draft& draft_;
  std::vector<int32_t> same_;     ///< By value: the first value that is equal to it.
  std::vector<int32_t> call_of_;  ///< By value: the call that yields it, or -1.
  std::vector<int32_t> constants_;
  std::map<int32_t, std::vector<int32_t>> views_;  ///< By viewed value: its views.
  std::map<std::pair<const operation*, std::vector<int32_t>>, std::vector<int32_t>> calls_;
};

}  // namespace

void eliminate_common_calls(program_draft& p) { sharing{p}.run(); }

}  // namespace troupe
