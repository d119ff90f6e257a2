// Ten simulated jobs, turn by turn: a change of structure alone leaves every turn in its place. The golden file keeps
// the number of turns and a checksum of the lines; the lines themselves are written by
//   TROUPE_WRITE_TRACES=DIR build/release/tests/golden/test_golden_jobs -tc='*turn by turn*'
// at both commits, and compared by diff. A change that is meant to change the order of messages makes the file anew:
//   TROUPE_RENEW_GOLDEN=traces.txt build/release/tests/golden/test_golden_jobs
#include "storage/encodings/crc32c.hpp"
#include "tests/golden/kept_lines.hpp"
#include "tests/support/small_job.hpp"

#include <cstdlib>

namespace troupe::test {

namespace {

/// Sees every third step and holds every ninth.
struct watching final : hook {
  needs begin(int64_t) override {
    return {.steps = {{.first = 3, .every = 3}, {.first = 9, .every = 9, .gate = true}}};
  }
};

std::string trace_of(uint64_t seed) {
  small_job_options o{.max_steps = 40,
                      .save_steps = static_cast<int64_t>(4 + seed % 3),
                      .replicas = static_cast<int64_t>(1 + seed % 3),
                      .reducers = seed > 5};
  o.hosts = o.replicas == 2 && seed % 2 == 0 ? 2 : 1;
  o.input = small_dataset().shuffle().batch(12).repeat();
  o.evaluates = seed % 2 == 1;
  o.when = seed % 4 == 1 ? evaluation_mode::waits : evaluation_mode::beside;
  if (seed > 5)
    o.hooks = {std::make_shared<watching>()};
  auto description = describe_small(o);
  description.basis.config.summary_steps = seed % 5 == 0 ? 0 : 5;
  auto prepared = prepare(std::move(description));
  REQUIRE(prepared);
  simulated_job job{std::move(*prepared), seed};
  std::string text;
  job.trace_to(&text);
  if (seed == 7 || seed == 8) {  // One job is stopped, one loses a node.
    REQUIRE(job.crank_until([&] { return job.progress().step >= 11; }));
    if (seed == 7)
      job.ask(request::stop);
    else
      REQUIRE(job.kill("outfeed"));
  }
  REQUIRE(job.crank_until([&] { return job.ended(); }));
  return text;
}

std::string summary_of(uint64_t seed, const std::string& trace) {
  return "seed " + std::to_string(seed) + " turns " + std::to_string(lines_of(trace).size()) + "\nseed "
         + std::to_string(seed) + " lines " + std::to_string(crc32c(trace)) + "\n";
}

std::string all_traces() {
  std::string text;
  for (uint64_t seed = 1; seed <= 10; ++seed)
    text += summary_of(seed, trace_of(seed));
  return text;
}

}  // namespace

TEST_CASE("ten simulated jobs go as they did, turn by turn") {
  if (const char* to = std::getenv("TROUPE_WRITE_TRACES"))
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      std::ofstream out{std::string{to} + "/trace-" + std::to_string(seed) + ".txt"};
      out << trace_of(seed);
      REQUIRE(out.flush());
    }
  check_kept(all_traces(), "traces.txt");
}

}  // namespace troupe::test
