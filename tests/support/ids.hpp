// Numbers of nodes and edges, as tests write them: 0_node, 7_edge; and the kinds of ends.
#pragma once

#include "words/roles.hpp"
#include "words/step_status.hpp"

#include <troupe/error.hpp>

namespace troupe::test {

constexpr node_id operator""_node(unsigned long long n) { return node_id{static_cast<int32_t>(n)}; }
constexpr edge_id operator""_edge(unsigned long long n) { return edge_id{static_cast<int32_t>(n)}; }
constexpr group_id operator""_group(unsigned long long n) { return group_id{static_cast<int32_t>(n)}; }

/// The end of a stream with this cause.
inline end_kind kind_of(const error& cause) { return cause.category == errc::out_of_range ? end_kind::data : end_kind::failed; }

}  // namespace troupe::test
