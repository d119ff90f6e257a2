// Replaces a sum of scatter_adds, each as large as its table, by one call whose work grows with the rows that occur.
#include "compute/planner/program_draft.hpp"

namespace troupe {
namespace {

/// The call that yields a value or the value that it is a view of; -1: none does.
int32_t producer(const program_draft& p, int32_t value) {
  for (size_t c = 0; c < p.calls.size(); ++c)
    if (p.calls[c].out[0] == p.root(value))
      return static_cast<int32_t>(c);
  return -1;
}

/// Whether the value is zeros, with which autodiff fills the gradient of a variable that the loss does not depend on.
bool is_zero(const program_draft& p, int32_t value) {
  const auto& known = p.value(p.root(value)).constant;
  if (known.elements() > 0)
    return std::all_of(known.bytes().begin(), known.bytes().end(), [](std::byte b) { return b == std::byte{0}; });
  const int32_t c = producer(p, value);
  return c >= 0 && p.calls[static_cast<size_t>(c)].op == &ops::broadcast_to
         && is_zero(p, p.calls[static_cast<size_t>(c)].in[0]);
}

/// Collects indices and updates of each scatter_add, in the order of the sum; false where the sum has any other term.
bool collect(const program_draft& p, int32_t value, std::vector<int32_t>& lookups) {
  if (is_zero(p, value))
    return true;
  const int32_t at = producer(p, value);
  if (at < 0)
    return false;
  const auto& c = p.calls[static_cast<size_t>(at)];
  if (c.op == &ops::add)
    return collect(p, c.in[0], lookups) && collect(p, c.in[1], lookups);
  lookups.insert(lookups.end(), c.in.begin(), c.in.end());
  return c.op == &ops::scatter_add && p.value(c.out[0]).dims[0] == 1;
}

}  // namespace

std::optional<int32_t> scatter_rows(program_draft& p, int32_t gradient, const sparse_rows& rows) {
  planned_call c{.op = &ops::scatter_rows, .out = {static_cast<int32_t>(p.values.size())}, .nodes = {gradient}};
  if (!collect(p, gradient, c.in))
    return {};
  c.attr.low = {rows.bits};
  planned_value v = p.value(gradient);
  v.op = c.op;
  v.view_of = -1;
  const int32_t after = producer(p, gradient);
  p.values.push_back(std::move(v));
  const auto made = c.out[0];
  p.calls.insert(after < 0 ? p.calls.end() : p.calls.begin() + after + 1, std::move(c));
  return made;
}

}  // namespace troupe
