#include "ensemble/graphs/member_graph.hpp"

#include "compute/graph/graph.hpp"
#include "ensemble/graphs/outputs.hpp"
#include "ensemble/objective.hpp"

namespace troupe {

namespace {

expected<void> refuse(const builder& b, const std::string& why) {
  return fail(errc::invalid_argument, "the builder " + quoted(b.name) + " " + why);
}

std::string names_of(const std::map<std::string, symbol>& all) {
  return joined(all, ", ", [](const auto& one) { return quoted(one.first); });
}

expected<void> check_symbol(const graph& g, const builder& b, const std::string& what, symbol s) {
  if (!s.valid() || s.owner() != &g)
    return refuse(b, "returns a " + what + " that is no symbol of its graph");
  return {};
}

expected<void> check_heads(const builder& b, const by_head& x, const std::string& what, const head& h) {
  for (const auto& part : h.parts)
    if (!x.all().contains(part.name))
      return refuse(b, "returns no " + what + " for the head " + quoted(part.name) + ", only for " + names_of(x.all()));
  if (x.all().size() != h.parts.size())
    return refuse(b, "returns " + what + " for " + names_of(x.all()) + ", but the heads of the search are "
                         + (h.parts.empty() ? "not named" : joined(h.parts, ", ", [](const head_part& p) {
                             return quoted(p.name);
                           })));
  return {};
}

expected<void> check_logits(const builder& b, const std::string& what, symbol s, int64_t count) {
  if (is_floating(s.type()) && s.rank() == 2 && !s.dims()[0].known() && s.dims()[1] == extent{count})
    return {};
  return refuse(
      b, "returns " + what + " " + describe(s) + ", which must be floating [batch, " + std::to_string(count) + "]");
}

expected<void> check_all_logits(const builder& b, const by_head& logits, const head& h) {
  if (!logits.is_map())
    return check_logits(b, "logits", logits.one(), h.logits);
  for (const auto& part : h.parts)
    if (auto right = check_logits(b, "logits of the head " + quoted(part.name), logits.all().at(part.name),
                                  part.logits);
        !right)
      return right;
  return {};
}

expected<void> check_output(const graph& g, const builder& b, const by_head& x, const std::string& what,
                            const head& h) {
  if (is_missing(x))
    return refuse(b, "returns no " + what);
  for (const auto& one : heads_of(x))
    if (auto right = check_symbol(g, b, what, one.value); !right)
      return right;
  return x.is_map() ? check_heads(b, x, what, h) : expected<void>{};
}

expected<void> check_member(const graph& g, const builder& b, const subnetwork& made, const head& h) {
  for (const auto& [what, x] : {std::pair{"last_layer", &made.last_layer}, {"logits", &made.logits}})
    if (auto right = check_output(g, b, *x, what, h); !right)
      return right;
  if (made.last_layer.is_map() != made.logits.is_map())
    return refuse(b, std::string{"returns "} + (made.logits.is_map() ? "logits" : "a last_layer")
                         + " by head, and must return both by head or neither");
  if (auto right = check_all_logits(b, made.logits, h); !right)
    return right;
  if (!made.complexity)
    return refuse(b, "returns no complexity; 0 adds no penalty");
  if (auto right = check_complexity(b.name, *made.complexity); !right)
    return right;
  for (const auto& [name, value] : made.outputs) {
    if (name.empty() || name.starts_with(logits_output) || name.starts_with(last_layer_output))
      return refuse(b, "returns an output called " + quoted(name) + ", which must have a name that begins neither with "
                           + "logits nor with last_layer");
    if (auto right = check_symbol(g, b, "'" + name + "'", value); !right)
      return right;
  }
  return {};
}

}  // namespace

subnetwork build_member(graph& g, const builder& b, const build_context& c, const head& h) {
  if (!b.build) {
    g.invalid({errc::invalid_argument, "the builder " + quoted(b.name) + " has no function to build a subnetwork"});
    return {};
  }
  auto made = called(g, b, "build()", [&] { return b.build(g, c); });
  if (!g.status())
    return {};
  if (auto right = check_member(g, b, made, h); !right) {
    g.invalid(std::move(right.error()));
    return {};
  }
  return made;
}

optimizer below(const std::string& scope, optimizer o) {
  for (auto& group : o.groups)
    group.prefix = scope + "/" + group.prefix;
  return o;
}

}  // namespace troupe
