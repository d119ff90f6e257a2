// The cost of starting a 784-128-10 network on data in memory, compared with an actor system that starts and ends.
//
//   start    milliseconds of the wall clock from posix_spawn to the end of the process, at its first finished step
//   memory   the peak resident memory of 500 steps, without the data, the state and the values of a step
#include "compute/engine/step_engine.hpp"
#include "compute/program/program.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/classifier_case.hpp"

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cstdlib>

extern char** environ;

namespace troupe::bench {
namespace {

struct child_cost {
  double milliseconds = 0;
  double mebibytes = 0;  ///< Peak resident memory.
};

child_cost run(const char* program, const char* argument = nullptr) {
  char* arguments[] = {const_cast<char*>(program), const_cast<char*>(argument), nullptr};
  pid_t child = 0;
  int status = 0;
  rusage used{};
  const double start = now(clock_kind::wall);
  if (::posix_spawn(&child, program, nullptr, nullptr, arguments, environ) != 0
      || ::wait4(child, &status, 0, &used) != child || status != 0) {
    std::fprintf(stderr, "bench_startup: %s did not run to its end\n", program);
    std::exit(1);
  }
  return {(now(clock_kind::wall) - start) * 1e3, static_cast<double>(used.ru_maxrss) / 1024};
}

/// The memory that any program with the same model needs: its data, its variables with Adam's slots and their gradient,
/// and the planned values of one step.
double unavoidable_mebibytes(suite& s) {
  constexpr double mebibyte = 1 << 20;
  const auto data = made_up_images(2);
  const double data_bytes = static_cast<double>(*data.source_size() * (image_values + 1) * 4);
  const auto network = classifier();
  graph g;
  const extent batch = g.unknown("batch");
  const features x{&g, {{"pixels", g.placeholder("pixels", dtype::float32, {batch, image_values})}}};
  const labels y{&g, {{"label", g.placeholder("label", dtype::int32, {batch})}}};
  const auto spec = network.build(g, x, y, mode::train);
  const auto layout = parameter_layout::of(g, spec.optimizer);
  const auto planned = layout ? program::make(g, spec, *layout, {.batch = batch_rows}) : fail(layout.error());
  if (!planned) {
    std::fprintf(stderr, "bench_startup: %s\n", to_text(planned.error()).c_str());
    std::exit(1);
  }
  const double state_bytes = static_cast<double>(layout->arena_bytes() + layout->shared_bytes()
                                                 + layout->gradient_bytes());
  const double step_bytes = static_cast<double>((*planned)->arena_bytes());
  char text[160];
  std::snprintf(text, sizeof text, "taken off: data %.2f MiB, state and gradient %.2f MiB, values of a step %.2f MiB",
                data_bytes / mebibyte, state_bytes / mebibyte, step_bytes / mebibyte);
  s.note(text);
  return (data_bytes + state_bytes + step_bytes) / mebibyte;
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe::bench;
  suite s{"startup", argc, argv};
  constexpr int rounds = 41;
  std::vector<double> ours, empty, ours_memory, empty_memory;
  run(TROUPE_STARTUP_EMPTY), run(TROUPE_STARTUP_TROUPE, "first");  // Loads both programs into the page cache.
  for (int round = 0; round < rounds; ++round) {
    const bool first = round % 2 == 0;
    if (first)
      ours.push_back(run(TROUPE_STARTUP_TROUPE, "first").milliseconds);
    const auto e = run(TROUPE_STARTUP_EMPTY);
    empty.push_back(e.milliseconds);
    empty_memory.push_back(e.mebibytes);
    if (!first)
      ours.push_back(run(TROUPE_STARTUP_TROUPE, "first").milliseconds);
    ours_memory.push_back(run(TROUPE_STARTUP_TROUPE).mebibytes);
  }
  s.compare({.name = "start", .unit = "ms", .reference_name = "an actor system that starts and ends"}, ours, empty,
            true);
  const double unavoidable = unavoidable_mebibytes(s);
  for (auto& m : ours_memory)
    m -= unavoidable;
  const auto memory = s.compare(
      {.name = "memory", .unit = "MiB", .reference_name = "an actor system that starts and ends"}, ours_memory,
      empty_memory, true);
  char text[80];
  std::snprintf(text, sizeof text, "%.1f MiB more", memory.ours - memory.reference);
  s.note(text);
}
