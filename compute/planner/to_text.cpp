#include "compute/planner/program_draft.hpp"

namespace troupe {
namespace {

std::string where(const program_draft& p, int32_t i) {
  static constexpr const char* names[] = {"arena", "parameters", "shared", "gradient"};
  const operand at = p.place_of(i);
  if (at.base >= base_feeds)
    return "feed " + std::to_string(at.base - base_feeds);
  return std::string{names[at.base]} + "+" + std::to_string(at.offset);
}

std::string to_text(const kernel_facts::buffer& b) {
  return b.name + ": " + std::string{to_string(b.type)} + " " + to_text(b.dims) + " @" + b.where;
}

std::string title(const planned_call& c) {
  std::string text{c.op->name};
  if (c.attr.transpose_a || c.attr.transpose_b)
    text += std::string{" "} + (c.attr.transpose_a ? "T" : "N") + (c.attr.transpose_b ? "T" : "N");
  text += c.bias >= 0 ? " +bias" : "";
  text += c.relu ? " +relu" : "";
  text += c.mask >= 0 ? " +mask" : "";
  for (const auto& one : c.fused)
    text += (&one == c.fused.data() ? ": " : ", ") + std::string{one.op->name};
  text += c.recording == 0 ? "" : (c.recording & record_values) != 0 ? " (for summaries)" : " (for host calls)";
  text += c.shares > 1 ? ", shared by " + std::to_string(c.shares) + " threads" : "";
  return text;
}

}  // namespace

std::vector<kernel_facts> describe(const program_draft& p) {
  std::vector<kernel_facts> all;
  for (const auto& c : p.calls) {
    kernel_facts k{.title = title(c),
                   .workspace_bytes = c.workspace_bytes * c.shares,
                   .workspace_offset = c.workspace_offset,
                   .flops = c.flops,
                   .recording = c.recording};
    const auto add = [&](std::vector<kernel_facts::buffer>& to, const std::vector<int32_t>& values) {
      for (int32_t i : values)
        to.push_back({p.value(i).name, p.value(i).type, p.value(i).dims, where(p, i)});
    };
    add(k.reads, c.in);
    add(k.writes, c.out);
    all.push_back(std::move(k));
  }
  return all;
}

std::string to_text(const program_draft& p) {
  int64_t flops = 0;
  for (const auto& c : p.calls)
    flops += c.flops;
  std::string text = "arena " + std::to_string(p.arena_bytes) + " bytes, " + std::to_string(p.calls.size())
                     + " kernels, " + std::to_string(flops) + " FLOPs\n";
  for (const auto& k : describe(p)) {
    text += k.title + "\n";
    for (const auto& b : k.reads)
      text += "  < " + to_text(b) + "\n";
    for (const auto& b : k.writes)
      text += "  > " + to_text(b) + ", " + std::to_string(b.bytes()) + " bytes\n";
    if (k.workspace_bytes > 0)
      text += "  workspace @arena+" + std::to_string(k.workspace_offset) + ", " + std::to_string(k.workspace_bytes)
              + " bytes\n";
    if (k.flops > 0)
      text += "  " + std::to_string(k.flops) + " FLOPs\n";
  }
  return text;
}

}  // namespace troupe
