// Our side of ./dev bench --peers replicas, which scripts/peers/replicas.py runs.
//
//   replicas_side ROW
//
// answers each line "ours SECONDS" with the steps a second of a whole job of two replicas, each with half of the row's
// batch, over about that time and by the wall clock.
#include "tests/bench/gated_job.hpp"
#include "tests/bench/whole_job.hpp"

#include <iostream>

namespace troupe::bench {
namespace {

int serve(measured_model m) {
  constexpr int64_t stride = 10;
  m.batch /= 2;
  gated_job job{whole_job(m, {.replicas = 2}), stride};
  const work steps = [&](int64_t n) { job.run(n); };
  std::cout << "{\"ours\": 0}" << std::endl;  // Its data are others than those of its peer: the losses differ.
  std::string name;
  for (double seconds = 0; std::cin >> name >> seconds;)
    std::cout << rate(steps, units_for(steps, seconds, clock_kind::wall, stride), clock_kind::wall) << std::endl;
  return 0;
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe::bench;
  for (const auto& m : models())
    if (argc == 2 && m.name == argv[1])
      return serve(m);
  return 2;
}
