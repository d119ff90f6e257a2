// Host calls, as a model declares them.
#include "compute/graph/graph.hpp"
#include "words/text.hpp"

#include <troupe/host_call.hpp>

#include <algorithm>

namespace troupe {

void graph::host_call(host_call_options options, std::source_location at) {
  const auto wrong = [&](const std::string& what) { refuse(*this, "host_call", what, at); };
  auto& all = contents_->host_calls;
  if (options.name.empty())
    return wrong("it has no name");
  const auto name = quoted(options.name);
  if (std::any_of(all.begin(), all.end(), [&](const graph_host_call& c) { return c.name == options.name; }))
    return wrong(name + " is called already: give all of its tensors in one call");
  if (all.size() == host_calls_max)
    return wrong(name + " is one more than the " + std::to_string(host_calls_max)
                 + " host calls that a model may have: give one call several tensors");
  if (options.every < 1)
    return wrong(name + " is to be made every " + std::to_string(options.every) + " steps; at least 1 is needed");
  if (options.tensors.empty())
    return wrong(name + " has no tensors");
  graph_host_call made{options.name, {}, options.every};
  for (const auto& [key, x] : options.tensors) {
    const auto which = quoted(key) + " of " + name;
    if (key.empty())
      return wrong("a tensor of " + name + " has no name");
    if (!x.valid() || x.owner() != this)
      return wrong(which + " is not a valid symbol of this graph");
    if (x.dims().empty())
      return wrong(which + " is " + describe(x)
                   + ": the values of gradient shards and replicas are joined on axis 0, so make it [1] by reshape");
    made.tensors.emplace_back(key, x.node());
  }
  all.push_back(std::move(made));
}

}  // namespace troupe
