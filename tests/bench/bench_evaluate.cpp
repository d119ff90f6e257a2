// Rows a second of an evaluation of 784-256-128-10 over 204,800 rows: through infeed, replica, outfeed and evaluator,
// compared with its program in a bare loop over batches in memory; and by two replicas, compared with one, and with
// the program in two bare loops at once, which is what two cores can do.
#include "tests/bench/evaluation_case.hpp"

int main(int argc, char** argv) {
  using namespace troupe;
  bench::suite s{"evaluate", argc, argv};
  const bench::evaluation_case c{bench::accuracy_alone};
  constexpr int64_t rows = bench::evaluation_case::rows;
  s.compare(
      {.name = "784-256-128-10 b" + std::to_string(bench::evaluation_case::batch),
       .unit = "rows/s",
       .reference_name = "its program in a bare loop",
       .rounds = 9,
       .seconds = 1,
       .clock = bench::clock_kind::wall,
       .granule = rows},
      [&](int64_t n) { c.evaluate(n / rows); }, [&](int64_t n) { c.loop(n / bench::evaluation_case::batch); });
  s.compare(
      {.name = "2 replicas, b" + std::to_string(bench::evaluation_case::batch),
       .unit = "rows/s",
       .reference_name = "1 replica",
       .rounds = 9,
       .seconds = 1,
       .clock = bench::clock_kind::wall,
       .granule = rows},
      [&](int64_t n) { c.evaluate(n / rows, 2); }, [&](int64_t n) { c.evaluate(n / rows); });
  s.compare(
      {.name = "2 replicas, b" + std::to_string(bench::evaluation_case::batch),
       .unit = "rows/s",
       .reference_name = "its program in two bare loops at once",
       .rounds = 9,
       .seconds = 1,
       .clock = bench::clock_kind::wall,
       .granule = rows},
      [&](int64_t n) { c.evaluate(n / rows, 2); }, [&](int64_t n) { c.two_loops(n / bench::evaluation_case::batch); });
}
