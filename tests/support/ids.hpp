// Numbers of nodes and edges, as tests write them: 0_node, 7_edge.
#pragma once

#include "words/roles.hpp"

namespace troupe::test {

constexpr node_id operator""_node(unsigned long long n) { return node_id{static_cast<int32_t>(n)}; }
constexpr edge_id operator""_edge(unsigned long long n) { return edge_id{static_cast<int32_t>(n)}; }
constexpr group_id operator""_group(unsigned long long n) { return group_id{static_cast<int32_t>(n)}; }

}  // namespace troupe::test
