// Who is who in a job, by number: nodes, edges and groups of a plan, and what each node does. Names are for people; nothing reads one.
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe {

/// Each counts from 0 within its plan.
enum class node_id : int32_t {};
enum class edge_id : int32_t {};
/// A model with its parameter store, its optimizer and its replicas.
enum class group_id : int32_t {};

/// Nobody: whose driver is the launcher itself.
inline constexpr node_id no_node{-1};

template <class Id>
constexpr size_t index_of(Id id) noexcept {
  return static_cast<size_t>(id);
}

enum class role : uint8_t {
  infeed,
  replica,
  reducer,
  outfeed,
  checkpoint_writer,
  summary_writer,       ///< Of what is recorded while training.
  eval_summary_writer,  ///< Of what evaluations found.
  evaluator,
  predictor,
  callbacks,
  chief,
};
/// "summary_writer" of either kind: a directory is no role.
std::string_view to_string(role r) noexcept;

}  // namespace troupe
