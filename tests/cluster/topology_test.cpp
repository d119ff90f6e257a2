#include "cluster/topology.hpp"

#include "support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

error refusal(const topology_options& o) {
  const auto made = make_topology(o);
  REQUIRE_FALSE(made);
  return made.error();
}

}  // namespace

TEST_CASE(
    "[DF-4] fewer cores than a replica needs, cores that do not divide, none at all, and another number of replicas") {
  CHECK(refusal({.hosts = 1, .cores_per_host = 8, .cores_per_replica = 16})
        == error{errc::invalid_argument,
                 "hosts = 1 and cores_per_host = 8 make 8 cores, fewer than cores_per_replica = 16"});
  CHECK(refusal({.hosts = 1, .cores_per_host = 6, .cores_per_replica = 4})
        == error{
            errc::state,
            "hosts = 1 and cores_per_host = 6 make 6 cores, which cannot be divided evenly into replicas of 4 cores"});
  CHECK(refusal({.hosts = 1, .cores_per_host = 0})
        == error{errc::state, "hosts = 1 and cores_per_host = 0 make 0 cores: a replica needs at least one"});
  CHECK(refusal({.hosts = 0, .cores_per_host = 8}).category == errc::state);
  CHECK(refusal({.hosts = 1, .cores_per_host = 8, .replicas = 4})
        == error{errc::invalid_argument,
                 "replicas must be 8 or left out, not 4: hosts = 1 and cores_per_host = 8 make 8 cores, 1 for each "
                 "replica"});
  CHECK(make_topology({.hosts = 1, .cores_per_host = 8, .replicas = 8}));
}

TEST_CASE("replicas that would lie over the edge of a host are refused, also where all cores together divide") {
  CHECK(refusal({.hosts = 2, .cores_per_host = 6, .cores_per_replica = 4}).category == errc::state);
  CHECK(refusal({.hosts = 4, .cores_per_host = 6, .cores_per_replica = 8}).category == errc::state);
}

TEST_CASE("numbers outside their range are refused by name") {
  CHECK(has(refusal({.hosts = -1}).message, "hosts must be in [0, 65536], not -1"));
  CHECK(has(refusal({.cores_per_host = 65'537}).message, "cores_per_host must be in [0, 65536], not 65537"));
  CHECK(has(refusal({.hosts = 65'536, .cores_per_host = 2}).message, "make 131072 cores, more than 65536"));
  CHECK(has(refusal({.replicas = 0}).message, "replicas must be at least 1, not 0"));
}

TEST_CASE("consecutive cores share a host, and consecutive replicas too") {
  const auto t = make_topology({.hosts = 2, .cores_per_host = 8, .cores_per_replica = 4});
  REQUIRE(t);
  CHECK(t->replicas == 4);
  CHECK(t->replicas_per_host() == 2);
  CHECK(place_of(*t, 1) == replica_place{0, 1});
  CHECK(place_of(*t, 2) == replica_place{1, 0});
  for (int64_t replica = 0; replica < 4; ++replica)
    for (int64_t k = 0; k < 4; ++k)
      CHECK(replica_of(*t, place_of(*t, replica).host, place_of(*t, replica).ordinal * 4 + k) == replica);
}

TEST_CASE("a replica over several hosts is placed at its first core") {
  const auto t = make_topology({.hosts = 4, .cores_per_host = 8, .cores_per_replica = 16});
  REQUIRE(t);
  CHECK(t->replicas == 2);
  CHECK(t->spans_hosts());
  CHECK(t->replicas_per_host() == 0);
  CHECK(place_of(*t, 1) == replica_place{2, 0});
  CHECK(replica_of(*t, 1, 7) == 0);
  CHECK(replica_of(*t, 3, 0) == 1);
}

TEST_CASE("[DF-6] one replica takes one core of one host, with a warning where others are left idle") {
  const auto t = make_topology({.hosts = 2, .cores_per_host = 8, .replicas = 1});
  REQUIRE(t);
  CHECK(t->hosts == 1);
  CHECK(t->cores() == 1);
  CHECK(t->replicas == 1);
  CHECK(t->warnings
        == std::vector<std::string>{"replicas = 1 takes one core of one host: 15 of 16 cores are left idle"});
  const auto alone = make_topology({.replicas = 1});
  REQUIRE(alone);
  CHECK(alone->warnings.empty());
}

}  // namespace troupe::test
