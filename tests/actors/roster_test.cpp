#include "actors/roster.hpp"

#include "support/simulation.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE("a roster knows who lives, by role and by address, and counts those who do not, too") {
  simulation world;
  auto first = world.record<begin>(), second = world.record<begin>();
  roster nodes{{{1_node, role::replica, 0_group, "replica/0"},
                {2_node, role::replica, 0_group, "replica/1"},
                {3_node, role::outfeed, {}, "outfeed"}}};
  CHECK_FALSE(nodes.any_alive());
  CHECK(nodes.all<role::replica>().empty());
  nodes.started(1_node, first.address());
  nodes.started(2_node, second.address());
  CHECK(nodes.any_alive());
  CHECK(nodes.all<role::replica>().size() == 2);
  CHECK_FALSE(nodes.the<role::outfeed>());
  REQUIRE(nodes.find(second.address()->get()->address()));
  CHECK(nodes.find(second.address()->get()->address())->id == 2_node);
  nodes.ended(1_node);
  CHECK(nodes.find(first.address()->get()->address()) == nullptr);
  REQUIRE(nodes.the<role::replica>());
  CHECK(nodes.the<role::replica>()->address() == second.address()->get()->address());
  CHECK(nodes.count(role::replica) == 2);
  CHECK(nodes.names(role::replica) == std::vector<std::string>{"replica/0", "replica/1"});
}

}  // namespace troupe::test
