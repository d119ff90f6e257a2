// Two comparisons. The planned arena of a training step is compared with its lower bound: the greatest sum of the bytes
// of values and scratch memory that are alive at one call. If rematerialisation makes the arena smaller, that arena is
// compared with the one without it. No program runs, so the numbers are the same on every machine of one CPU level.
#include "compute/program/program.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/models.hpp"

#include <cstdio>
#include <cstdlib>

namespace troupe::bench {
namespace {

std::unique_ptr<program> planned(const measured_model& m, bool recompute) {
  graph g;
  const model_spec spec = m.build(g, adam{});
  const auto layout = parameter_layout::of(g, spec.optimizer);
  auto p = layout ? program::make(g, spec, *layout, {.batch = m.batch, .recompute = recompute})
                  : tl::unexpected{layout.error()};
  if (p)
    return std::move(*p);
  std::fprintf(stderr, "%s: %s\n", m.name.c_str(), to_text(p.error()).c_str());
  std::exit(1);
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe::bench;
  const bool json = json_wanted("memory", argc, argv);
  if (!json)
    std::printf("%-28s %8s %12s  %6s %s\n", "memory", "kernels", "arena", "ratio", "over");
  const auto print = [json](const std::string& name, int64_t kernels, int64_t arena, int64_t over, const char* what) {
    const double ratio = static_cast<double>(arena) / static_cast<double>(over);
    if (json)
      std::printf(
          "{\"bench\":\"memory\",\"case\":\"%s\",\"unit\":\"bytes\",\"kernels\":%lld,\"ours\":%lld,\"reference\":%lld,"
          "\"reference_name\":\"%s\",\"ratio\":%.4f}\n",
          name.c_str(), static_cast<long long>(kernels), static_cast<long long>(arena), static_cast<long long>(over),
          what, ratio);
    else
      std::printf("%-28s %8lld %12lld  %6.3f %s\n", name.c_str(), static_cast<long long>(kernels),
                  static_cast<long long>(arena), ratio, what);
  };
  auto all = models();
  all.push_back(deep_model(16, 256, 128));
  for (const auto& m : all) {
    const auto p = planned(m, false), again = planned(m, true);
    print(m.name, p->kernels(), p->arena_bytes(), p->live_bytes_max(), "live at once");
    if (again->arena_bytes() < p->arena_bytes())
      print("  recomputed", again->kernels(), again->arena_bytes(), p->arena_bytes(), "the arena without");
  }
}
