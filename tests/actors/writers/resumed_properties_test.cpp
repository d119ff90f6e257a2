#include "actors/writers/resumed_properties.hpp"

#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using properties = std::map<std::string, std::string>;
using strings = std::vector<std::string>;

const properties job{{"numerics_version", "2"}, {"cpu_level", "v3"}, {"gradient_shards", "2"},
                     {"replicas", "2"},         {"seed", "7"},       {"model", "m"}};

/// The properties of `job`, with one changed.
properties but(const char* name, const char* value) {
  auto other = job;
  other[name] = value;
  return other;
}

}  // namespace

TEST_CASE(
    "a job that goes on as it was has nothing to warn of, nor has another number of replicas with as many shards") {
  CHECK(differences_in_arithmetic(job, job).empty());
  CHECK(differences_in_arithmetic(but("replicas", "1"), job).empty());
  CHECK(differences_in_arithmetic(but("model", "other"), job).empty());
  CHECK(differences_in_arithmetic({}, job).empty());
  CHECK(differences_in_arithmetic(job, {}).empty());
}

TEST_CASE("what changes the arithmetic of a resumed job is told with its old value, its new one and what follows") {
  CHECK(differences_in_arithmetic(but("numerics_version", "1"), job)
        == strings{"the checkpoint was written by arithmetic of version 1, this job has 2: what follows has other last "
                   "bits than the job that wrote "
                   "it would have had"});
  CHECK(differences_in_arithmetic(but("cpu_level", "baseline"), job)
        == strings{"the checkpoint was written by a build for the CPU level baseline, this job has v3: what follows "
                   "has other last bits than the "
                   "job that wrote it would have had"});
  CHECK(differences_in_arithmetic(but("gradient_shards", "4"), job)
        == strings{"the checkpoint was written with gradient_shards = 4, this job has 2: gradients are summed in "
                   "another order, dropout and batch "
                   "statistics are those of other parts of a batch; gradient_shards = 4 keeps the bits"});
  CHECK(differences_in_arithmetic(but("seed", "8"), job)
        == strings{"the checkpoint was written with seed 8, this job has 7: dropout draws other numbers from here on, "
                   "and variables keep their values"});
}

TEST_CASE(
    "a number of shards that follows the replicas is told together with theirs, and how to keep it only where they can "
    "share it out") {
  auto before = but("gradient_shards", "4");
  before["replicas"] = "4";
  before["seed"] = "0";
  auto all = differences_in_arithmetic(before, job);
  REQUIRE(all.size() == 2);
  CHECK(all[0].ends_with(
      ", which follows the number of replicas, 4 before and 2 now; gradient_shards = 4 keeps the bits"));
  CHECK(has(all[1], "seed 0"));
  before["gradient_shards"] = before["replicas"] = "1";
  all = differences_in_arithmetic(before, job);
  REQUIRE(all.size() == 2);
  CHECK(all[0].ends_with(", which follows the number of replicas, 1 before and 2 now"));
}

}  // namespace troupe::test
