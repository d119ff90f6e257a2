// What a carried state costs, and what loops do, in whole jobs by the wall clock.
//
//   1 MB of state   LSTM 2x128 b32 t32 that carries 32 KiB a row from step to step, beside the same without
//   loops of N      784-128-10 b128 in loops of 1, 10 and 1,000 steps, beside loops of 100
#include "tests/bench/bench.hpp"
#include "tests/bench/gated_job.hpp"
#include "tests/bench/whole_job.hpp"

namespace troupe::bench {
namespace {

/// The model, which also carries `floats` numbers a row: what it carries is computed from what it has carried.
model carrying(const measured_model& m, int64_t floats) {
  return {"carrying", [m, floats](graph& g, const features& f, const labels& l, mode) {
            const auto memory = g.state({.name = "memory", .dims = {f["x"].dims()[0], floats}});
            g.carry(memory, memory + 1);
            return m.of(g, f["x"], l["y"], adam{});
          }};
}

void compare_state(suite& s) {
  const auto m = lstm_model(128, 32, 32);
  auto with_state = whole_job(m);
  with_state.basis.source = std::make_shared<const model>(carrying(m, 8192));
  gated_job ours{std::move(with_state), 10}, bare{whole_job(m), 10};
  compare_jobs(s, "1 MB of state, " + m.name, ours, "without", bare, 10);
}

void compare_loops(suite& s) {
  const auto m = dense_model({784, 128, 10}, 128);
  const auto in_loops_of = [&](int64_t steps) {
    auto job = whole_job(m);
    job.basis.config.loop = steps;
    return job;
  };
  constexpr int64_t stride = 1000;
  gated_job hundred{in_loops_of(100), stride};
  for (const int64_t steps : {1, 10, 1000}) {
    gated_job other{in_loops_of(steps), stride};
    compare_jobs(s, "loops of " + std::to_string(steps) + ", " + m.name, other, "of 100", hundred, stride);
  }
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe::bench;
  suite s{"state", argc, argv};
  compare_state(s);
  compare_loops(s);
}
