// Repeats a step to find out why it was not finite.
#include "compute/kernels/denormals.hpp"
#include "compute/program/fault_search.hpp"
#include "compute/program/program_impl.hpp"

namespace troupe {

std::optional<numeric_fault> program::impl::find_fault(const step_input& in, std::byte* gradient) {
  bind(in, gradient);
  fault_search search{draft, bases};
  for (size_t c = 0; c < calls.size(); ++c) {
    if (in.cancel && in.cancel->load(std::memory_order_relaxed))
      return std::nullopt;
    if (calls[c].recording)
      continue;
    search.before(c);
    compute(c);
    search.after(c);
  }
  const auto* found = has_loss ? search.origin_of(kept[0]) : nullptr;
  // Names of gradients, and of assigned variables, that are not finite; each once, even if it is computed in parts.
  std::string spoilt[2];
  std::vector<bool> named(gradients.size());
  if (!found)
    for (const auto& c : draft.calls)
      for (int32_t out : c.out) {
        const operand where = draft.place_of(out);
        const auto* from = where.base == base_gradient && !c.recording ? search.origin_of(out) : nullptr;
        const auto name = std::find_if(gradients.begin(), gradients.end(), [&](const auto& g) {
          return g.offset <= where.offset && where.offset < g.offset + g.bytes;
        });
        if (!from || name == gradients.end())
          continue;
        found = found ? found : from;
        const auto number = static_cast<size_t>(name - gradients.begin());
        std::string& names = spoilt[name->assigned];
        if (!named[number])
          names += (names.empty() ? "" : ", ") + name->name;
        named[number] = true;
      }
  if (!found)
    return std::nullopt;
  // The operands of that call may have been overwritten since: runs again up to it.
  bind(in, gradient);
  for (size_t c = 0; static_cast<int32_t>(c) < found->call; ++c)
    if (!calls[c].recording)
      compute(c);
  auto fault = search.describe(*found);
  if (!spoilt[0].empty())
    fault.details.push_back("the loss is finite; not finite are the gradients of " + spoilt[0]);
  if (!spoilt[1].empty())
    fault.details.push_back("the loss is finite; not finite is what is assigned to " + spoilt[1]);
  return fault;
}

std::optional<numeric_fault> program::find_fault(const step_input& in, std::byte* gradient) {
  const flush_denormals tiny_is_zero;
  return impl_->find_fault(in, gradient);
}

}  // namespace troupe
