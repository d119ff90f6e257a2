// Literals for the numbers of nodes and edges, such as 0_node and 7_edge, and the kinds of ends.
#pragma once

#include "words/roles.hpp"
#include "words/step_status.hpp"

#include <troupe/error.hpp>

namespace troupe::test {

constexpr node_id operator""_node(unsigned long long n) { return node_id{static_cast<int32_t>(n)}; }
constexpr edge_id operator""_edge(unsigned long long n) { return edge_id{static_cast<int32_t>(n)}; }
constexpr group_id operator""_group(unsigned long long n) { return group_id{static_cast<int32_t>(n)}; }

/// The kind of end that this cause leads to.
inline end_kind kind_of(const error& cause) {
  return cause.category == errc::out_of_range ? end_kind::data : end_kind::failed;
}

}  // namespace troupe::test
