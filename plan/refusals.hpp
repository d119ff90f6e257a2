// How the errors of a plan begin, and how they name a node and a role.
#pragma once

#include "plan/plan.hpp"
#include "words/text.hpp"

namespace troupe {

inline tl::unexpected<error> refuse(std::string what) {
  return fail(errc::invalid_argument, "the plan cannot be: " + std::move(what));
}

inline std::string text_of(node_id id) { return "node " + std::to_string(static_cast<int32_t>(id)); }

inline std::string named(const plan_node& n) { return quoted(n.name); }

inline std::string an(role r) {
  return (r == role::infeed || r == role::outfeed || r == role::evaluator ? "an " : "a ") + std::string{to_string(r)};
}

}  // namespace troupe
