#include "compute/planner/plan.hpp"

namespace troupe {
namespace {

std::string where(const plan& p, int32_t i) {
  static constexpr const char* names[] = {"arena", "parameters", "shared", "gradient"};
  const operand at = p.value(p.root(i)).where;
  if (at.base >= base_feeds)
    return "feed " + std::to_string(at.base - base_feeds);
  return std::string{names[at.base]} + "+" + std::to_string(at.offset);
}

std::string describe(const plan& p, int32_t i) {
  const auto& v = p.value(i);
  return v.name + ": " + std::string{to_string(v.type)} + " " + to_string(v.dims) + " @" + where(p, i);
}

std::string title(const planned_call& c) {
  std::string text{c.op->name};
  if (c.attr.transpose_a || c.attr.transpose_b)
    text += std::string{" "} + (c.attr.transpose_a ? "T" : "N") + (c.attr.transpose_b ? "T" : "N");
  text += c.bias >= 0 ? " +bias" : "";
  text += c.relu ? " +relu" : "";
  text += c.mask >= 0 ? " +mask" : "";
  for (const auto& part : c.parts)
    text += (&part == c.parts.data() ? ": " : ", ") + std::string{part.op->name};
  text += c.recording ? " (for summaries)" : "";
  return text;
}

}  // namespace

std::string to_text(const plan& p) {
  std::string text = "arena " + std::to_string(p.arena_bytes) + " bytes, " + std::to_string(p.calls.size()) + " kernels\n";
  for (const auto& c : p.calls) {
    text += title(c) + "\n";
    for (int32_t i : c.in)
      text += "  < " + describe(p, i) + "\n";
    for (int32_t i : c.out)
      text += "  > " + describe(p, i) + ", " + std::to_string(p.value(i).bytes()) + " bytes\n";
    if (c.workspace_bytes > 0)
      text += "  workspace @arena+" + std::to_string(c.workspace_offset) + ", " + std::to_string(c.workspace_bytes) + " bytes\n";
  }
  return text;
}

}  // namespace troupe
