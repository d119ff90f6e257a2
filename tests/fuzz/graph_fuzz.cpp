// graph.json of an export: the parser, and the registry of operations, which makes a graph of what the parser accepts.
#include "compute/operations/stored_graph.hpp"
#include "storage/exports/export_json.hpp"
#include "tests/fuzz/target.hpp"

#include <troupe/nn.hpp>

namespace troupe::fuzz {

namespace {

/// The JSON of a graph with as many kinds of nodes as a small model has.
std::string written_graph() {
  graph g;
  const extent batch = g.unknown("batch");
  const symbol x = g.placeholder("x", dtype::float32, {batch, 6, 6, 1}),
               n = g.placeholder("n", dtype::int32, {batch, 2});
  symbol h = max_pool(relu(nn::conv2d(x, {.filters = 2, .kernel_size = {3, 3}})));
  h = reshape(h, {batch, extent{-1}});
  h = concat({h, reshape(gather(g.variable({.name = "t", .dims = {3, 2}}), n), {batch, extent{4}})});
  h = nn::dense(clip(pad(h, {.low = {0, 1}, .high = {0, 0}}), -1, 1), {.units = 3, .activation = gelu});
  const std::vector<int32_t> roots{softmax(h).node(), argmax(h).node(), scale(reduce_mean(h), 2).node()};
  const auto slice = need(slice_of(g, roots));
  return need(write_graph_json({{"m", 3, "/m/model.ckpt-3", {{"loss", 0.5}}}, slice.nodes, {{"t", 7}}}));
}

/// Zeros for the variables and constants of a graph; nothing if they would take too much memory.
std::optional<std::map<std::string, tensor>> tensors_for(const stored_graph& g) {
  constexpr int64_t elements_most = 1 << 16;
  std::map<std::string, tensor> tensors;
  int64_t all = 0;
  for (const auto& n : g.nodes) {
    if (n.operation != "variable" && n.operation != "constant")
      continue;
    std::vector<int64_t> extents;
    int64_t elements = 1;
    for (const extent& e : n.dims) {
      if (!e.known() || e.coefficient > elements_most || (elements *= e.coefficient) > elements_most)
        return {};
      extents.push_back(e.coefficient);
    }
    if (extents.size() > static_cast<size_t>(shape::max_rank) || (all += elements) > elements_most)
      return {};
    const auto name = n.attributes.find("tensor");
    const auto* text = name == n.attributes.end() ? nullptr : std::get_if<std::string>(&name->second);
    tensors[text ? *text : n.name] = tensor::zeros(n.type, shape{std::span<const int64_t>{extents}});
  }
  return tensors;
}

}  // namespace

std::vector<std::string> seeds() {
  const auto whole = written_graph();
  std::vector<std::string> all{whole};
  for (const auto& value : {nested("[", "", "]"), nested("{\"a\":", "1", "}")})
    all.push_back(std::string{whole}.replace(whole.find("\"m\""), 3, value));
  return all;
}

void run(std::string_view input) {
  const auto f = parse_graph_json(input, "f");
  if (!f)
    return;
  const std::string again = need(write_graph_json(*f));
  require(need(write_graph_json(need(parse_graph_json(again, "f")))) == again, "a graph is read as it is written");
  const auto tensors = tensors_for(f->graph);
  if (!tensors)
    return;
  graph g;
  const auto symbols = restore_nodes(f->graph, g, {.tensors = &*tensors});
  if (!symbols || symbols->empty())
    return;
  std::vector<int32_t> roots;
  for (const symbol s : *symbols)
    roots.push_back(s.node());
  const auto slice = need(slice_of(g, roots));
  require(slice.nodes.nodes.size() == f->graph.nodes.size(), "each node comes back once");
  (void)rows_are_apart(g, roots);
}

}  // namespace troupe::fuzz
