// What host calls cost, in whole jobs by the wall clock: 784-1024-1024-10 b256 that gives 1 MB to a function in every
// step, and in every tenth, beside the same without.
#include "tests/bench/bench.hpp"
#include "tests/bench/gated_job.hpp"
#include "tests/bench/whole_job.hpp"

#include <troupe/host_call.hpp>

namespace troupe::bench {
namespace {

constexpr const char* call = "hidden";

/// `every` 0: without the call.
training_job job_with_calls(const measured_model& m, int64_t every) {
  auto source = measured(m);
  source.build = [every](graph& g, const features& f, const labels& l, mode) {
    const auto h = nn::dense(f["x"], {.units = 1024, .activation = relu});
    if (every > 0)
      g.host_call({.name = call, .tensors = {{"h", h}}, .every = every});
    return classify(nn::dense(nn::dense(h, {.units = 1024, .activation = relu}), {.units = 10}), l["y"], adam{});
  };
  if (every > 0)
    source.host_calls[call] = [](host_call_step&) {};
  auto job = whole_job(m);
  job.basis.source = std::make_shared<const model>(std::move(source));
  return job;
}

void compare_calls(suite& s) {
  const auto m = dense_model({784, 1024, 1024, 10}, 256);
  gated_job bare{job_with_calls(m, 0), 10};
  for (const int64_t every : {1, 10}) {
    gated_job ours{job_with_calls(m, every), 10};
    compare_jobs(s, "1 MB every " + std::to_string(every) + " steps, " + m.name, ours, "without", bare, 10);
  }
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe::bench;
  suite s{"outfeed", argc, argv};
  compare_calls(s);
}
