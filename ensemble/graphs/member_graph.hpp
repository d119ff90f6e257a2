// The graph of one subnetwork.
#pragma once

#include "words/guarded.hpp"
#include "words/text.hpp"

#include <troupe/graph.hpp>
#include <troupe/heads.hpp>
#include <troupe/search/builder.hpp>

namespace troupe {

/// Calls `what` of the builder, such as "build()". An exception is an error of the graph (state) that names both; the
/// result is then empty.
template <class Call>
std::invoke_result_t<Call> called(graph& g, const builder& b, const std::string& what, Call&& call) {
  expected<std::invoke_result_t<Call>> made = guarded(what + " of the builder " + quoted(b.name), call);
  if (made)
    return std::move(*made);
  g.invalid(std::move(made.error()), {});  // No source line: it would be this one.
  return {};
}

/// Calls the builder and checks what it returns; the scope of the subnetwork must be open. Errors of the graph name the
/// builder: invalid_argument for a missing function or output, logits that are not floating [batch, logits of the
/// head], outputs by head where the other ones are not, or for other heads than the search has, a complexity that is
/// negative or not finite, and for another output called like logits or last layers. The result is then without
/// outputs.
subnetwork build_member(graph& g, const builder& b, const build_context& c, const head& h);

/// The optimizer with the prefixes of its variable groups below the scope.
optimizer below(const std::string& scope, optimizer o);

}  // namespace troupe
