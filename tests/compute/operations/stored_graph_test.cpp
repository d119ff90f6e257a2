#include "compute/operations/stored_graph.hpp"

#include "compute/operations/stored_forms.hpp"
#include "tests/compute/gradient_checks.hpp"
#include "tests/compute/operations/values.hpp"
#include "tests/support/has.hpp"

#include <troupe/nn.hpp>

namespace troupe {

using namespace test;

namespace {

std::vector<int32_t> nodes_of(const model_spec& spec) {
  std::vector<int32_t> roots;
  for (const auto& [name, s] : spec.predictions)
    roots.push_back(s.node());
  return roots;
}

std::map<std::string, tensor> starting_values(const graph& g) {
  auto store = *parameter_store::create(*parameter_layout::of(g, std::nullopt), 1);
  store->initialise(3);
  std::map<std::string, tensor> values;
  for (size_t e = 0; e < store->layout().entries().size(); ++e)
    values[store->layout().entries()[e].name] = store->view(0, static_cast<int32_t>(e));
  return values;
}

/// A graph as data, with the tensors that are needed to restore it.
struct stored {
  graph_slice slice;
  std::map<std::string, tensor> tensors;

  stored(const graph& g, const std::vector<int32_t>& roots) : tensors(starting_values(g)) {
    auto made = slice_of(g, roots);
    REQUIRE_MESSAGE(made, (made ? "" : to_text(made.error())));
    slice = std::move(*made);
    tensors.insert(slice.constants.begin(), slice.constants.end());
  }
  expected<std::vector<symbol>> restore(graph& into) const {
    return restore_nodes(slice.nodes, into, {.tensors = &tensors});
  }
};

/// A graph with several of the layers that models export.
struct layers {
  graph g;
  model_spec spec;

  layers() {
    const extent batch = g.unknown("batch");
    const symbol image = g.placeholder("image", dtype::float32, {batch, 8, 8, 2}),
                 word = g.placeholder("word", dtype::int32, {batch, 3});
    symbol h = nn::conv2d(image, {.filters = 4, .kernel_size = {3, 3}, .padding = padding::same});
    h = max_pool(relu(h));
    h = reshape(h, {batch, 4 * 4 * 4});
    const symbol table = g.variable({.name = "table", .dims = {5, 4}, .initial = init::glorot_uniform()});
    const symbol words = reduce_mean(gather(table, word), {{1}});
    h = concat({h, words});
    h = nn::dense(h, {.units = 6, .activation = gelu});
    h = clip(pad(h, {.low = {0, 1}, .high = {0, 0}, .value = -1}), -0.5, std::numeric_limits<double>::infinity());
    spec.mode = mode::predict;
    spec.predictions = {{"class", argmax(h)}, {"probabilities", softmax(h)}};
  }
};

/// Checks that a restored graph is stored in the same form again.
void comes_back(const graph& g, const std::vector<int32_t>& roots) {
  const stored s{g, roots};
  graph again;
  const auto symbols = s.restore(again);
  REQUIRE_MESSAGE(symbols, (symbols ? "" : to_text(symbols.error())));
  std::vector<int32_t> places;
  for (const int32_t p : s.slice.roots)
    places.push_back((*symbols)[static_cast<size_t>(p)].node());
  const auto back = slice_of(again, places);
  REQUIRE(back);
  REQUIRE(back->nodes.nodes.size() == s.slice.nodes.nodes.size());
  for (size_t i = 0; i < back->nodes.nodes.size(); ++i)
    CHECK_MESSAGE(back->nodes.nodes[i] == s.slice.nodes.nodes[i], "node " << i << " " << s.slice.nodes.nodes[i].name);
}

}  // namespace

TEST_CASE("every operation that a graph can hold has a stored form under its name") {
  for (const auto* op : operations()) {
    CAPTURE(op->name);
    const auto* form = stored_form_of(op->name);
    const bool source = op == &ops::placeholder || op == &ops::variable || op == &ops::constant || op == &ops::state;
    CHECK((form != nullptr) == !source);
    CHECK((!form || form->op == op));
  }
  CHECK(stored_form_of("fused") == nullptr);
}

TEST_CASE("the expression of every gradient check, with its gradients, comes back from data node for node") {
  for (const auto& [name, all] : gradient_checks())
    for (const auto& c : all)
      for (const bool second : {false, true}) {
        if (second && !c.second)
          continue;
        CAPTURE(name);
        CAPTURE(second);
        graph g;
        std::vector<symbol> x;
        for (const shape& dims : c.inputs)
          x.push_back(g.placeholder("x" + std::to_string(x.size()), dtype::float64,
                                    symbol_shape(dims.extents().begin(), dims.extents().end())));
        const symbol y = scalar_of(g, c, x, second);
        std::vector<int32_t> roots{y.node()};
        for (const symbol dx : gradients(y, with_variables(g, x)))
          roots.push_back(dx.node());
        REQUIRE(g.status());
        comes_back(g, roots);
      }
}

TEST_CASE("operations without a gradient come back from data too") {
  graph g;
  const extent batch = g.unknown("batch");
  const symbol x = g.placeholder("x", dtype::float32, {batch, 4}), n = g.placeholder("n", dtype::int64, {batch});
  const symbol flag = logical_or(logical_not(less(x, 2 * x)), logical_and(greater_equal(x, x), not_equal(x, 1 - x)));
  const std::vector<int32_t> roots{equal(argmin(x), n).node(),
                                   less_equal(x, x).node(),
                                   greater(x, x).node(),
                                   flag.node(),
                                   one_hot(n, 3).node(),
                                   cast(x, dtype::int32).node(),
                                   sparse_softmax_cross_entropy(n, x).node(),
                                   argmax(x).node()};
  REQUIRE(g.status());
  comes_back(g, roots);
}

TEST_CASE("a graph that comes back predicts the bits of the one that was stored") {
  const layers l;
  REQUIRE(l.g.status());
  const stored s{l.g, nodes_of(l.spec)};
  graph again;
  const auto symbols = s.restore(again);
  REQUIRE_MESSAGE(symbols, (symbols ? "" : to_text(symbols.error())));
  model_spec spec;
  spec.mode = mode::predict;
  size_t root = 0;
  for (const auto& [name, before] : l.spec.predictions)
    spec.predictions[name] = (*symbols)[static_cast<size_t>(s.slice.roots[root++])];
  const auto images = noise<float>({3, 8, 8, 2}, 5);
  const auto words = tensor::of<int32_t>({3, 3}, {0, 1, 2, 4, 4, 4, 3, 0, 3});
  const auto run = [&](const graph& g, const model_spec& what) {
    auto store = *parameter_store::create(*parameter_layout::of(g, std::nullopt), 1);
    store->initialise(3);
    auto p = program::make(g, what, store->layout(), {.batch = 3});
    REQUIRE_MESSAGE(p, (p ? "" : to_text(p.error())));
    const std::byte* feeds[] = {images.data(), words.data()};
    REQUIRE((*p)->run({.parameters = store->arena(0), .shared = store->shared(), .feeds = feeds}) == step_status::ok);
    return std::pair{(*p)->output(0), (*p)->output(1)};
  };
  CHECK(run(again, spec) == run(l.g, l.spec));
}

TEST_CASE("what no model needs is not stored") {
  graph g;
  const symbol x = g.placeholder("x", dtype::float32, {g.unknown("batch"), 2});
  g.placeholder("unused", dtype::float32, {2});
  g.variable({.name = "unused too", .dims = {2}});
  const symbol y = relu(x);
  exp(x);
  const auto slice = slice_of(g, std::vector<int32_t>{y.node()});
  REQUIRE(slice);
  CHECK(slice->nodes.nodes.size() == 2);
  CHECK(slice->roots == std::vector<int32_t>{1});
}

TEST_CASE("any one field of a node that is changed to what its inputs do not make is refused, naming the node") {
  const layers l;
  const stored s{l.g, nodes_of(l.spec)};
  int64_t refused = 0;
  const auto refuses = [&](const stored_graph& changed, const std::string& what, std::optional<errc> only = {}) {
    CAPTURE(what);
    graph again;
    const auto symbols = restore_nodes(changed, again, {.tensors = &s.tensors});
    REQUIRE_FALSE(symbols);
    const auto category = symbols.error().category;
    CHECK((only ? category == *only : category == errc::data_loss || category == errc::unimplemented));
    CHECK(has(symbols.error().message, "node "));
    ++refused;
  };
  for (size_t i = 0; i < s.slice.nodes.nodes.size(); ++i) {
    const auto& n = s.slice.nodes.nodes[i];
    CAPTURE(i);
    CAPTURE(n.operation);
    const auto with = [&](auto change) {
      auto changed = s.slice.nodes;
      change(changed.nodes[i]);
      return changed;
    };
    refuses(with([](stored_node& x) { x.operation = "no_such"; }), "operation", errc::unimplemented);
    refuses(with([&](stored_node& x) { x.inputs.push_back(static_cast<int32_t>(i)); }), "an input that is not earlier",
            errc::data_loss);
    refuses(with([](stored_node& x) { x.inputs.push_back(-1); }), "an input below 0", errc::data_loss);
    refuses(with([](stored_node& x) { x.attributes["surplus"] = true; }), "one more attribute", errc::data_loss);
    if (n.operation != "placeholder") {
      refuses(with([](stored_node& x) { x.type = x.type == dtype::float64 ? dtype::uint8 : dtype::float64; }), "dtype");
      refuses(with([](stored_node& x) { x.dims.push_back(extent{2}); }), "shape");
      refuses(with([](stored_node& x) { x.dims.push_back(extent{-2}); }), "a negative extent", errc::data_loss);
      refuses(with([](stored_node& x) { x.dims.push_back(extent::of_unknown(7)); }), "an unknown that is not there",
              errc::data_loss);
    }
    for (const auto& [name, value] : n.attributes) {
      refuses(with([&](stored_node& x) { x.attributes.erase(name); }), "without " + name, errc::data_loss);
      if (name != "per")  // For "per" a shape is the right kind.
        refuses(with([&](stored_node& x) { x.attributes[name] = symbol_shape{extent::of_unknown(0)}; }),
                "the kind of " + name, errc::data_loss);
      if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
        auto other = *list;
        other.push_back(int64_t{1} << 62);
        refuses(with([&](stored_node& x) { x.attributes[name] = other; }), "the length of " + name, errc::data_loss);
        other = *list;
        for (auto& e : other)
          e = -3;
        if (!other.empty())
          refuses(with([&](stored_node& x) { x.attributes[name] = other; }), "negative " + name, errc::data_loss);
      }
    }
  }
  CHECK(refused > 150);
}

TEST_CASE("a weight of another shape or dtype, and one that is missing, is refused by its name") {
  const layers l;
  const stored s{l.g, nodes_of(l.spec)};
  const auto why = [&](const std::function<void(std::map<std::string, tensor>&)>& change) {
    auto tensors = s.tensors;
    change(tensors);
    graph again;
    const auto symbols = restore_nodes(s.slice.nodes, again, {.tensors = &tensors});
    REQUIRE_FALSE(symbols);
    CHECK(symbols.error().category == errc::data_loss);
    return symbols.error().message;
  };
  CHECK(why([](auto& t) {
          t["table"] = tensor::zeros(dtype::float32, {5, 3});
        }).find("it is float32 [5, 4], and its tensor 'table' is float32 [5, 3]")
        != std::string::npos);
  CHECK(has(why([](auto& t) { t["table"] = tensor::zeros(dtype::float64, {5, 4}); }), "'table' is float64 [5, 4]"));
  CHECK(has(why([](auto& t) { t.erase("table"); }), "there is no tensor 'table'"));
}

TEST_CASE("an input of another dtype or shape than the stored placeholder is refused by its name") {
  const layers l;
  const stored s{l.g, nodes_of(l.spec)};
  graph g;
  const extent batch = g.unknown("batch");
  const symbol wrong = g.placeholder("image", dtype::float32, {batch, 8, 9, 2}),
               word = g.placeholder("word", dtype::int32, {batch, 3});
  const graph_sources sources{.input = [&](const stored_node& n) { return n.name == "word" ? word : wrong; },
                              .tensors = &s.tensors};
  const auto symbols = restore_nodes(s.slice.nodes, g, sources);
  REQUIRE_FALSE(symbols);
  CHECK(symbols.error().category == errc::type);
  CHECK(symbols.error().message
        == "'image' is float32 [batch, 8, 9, 2], and the exported model takes float32 [batch, 8, 8, 2]");
}

TEST_CASE("rows are apart in layers, and are not where a value mixes them") {
  const layers l;
  CHECK(rows_are_apart(l.g, nodes_of(l.spec)));
  const auto apart = [](const std::function<symbol(symbol)>& f) {
    graph g;
    const symbol y = f(g.placeholder("x", dtype::float32, {g.unknown("batch"), 4}));
    REQUIRE(g.status());
    return rows_are_apart(g, std::vector<int32_t>{y.node()});
  };
  CHECK(apart([](symbol x) { return nn::dense(x, {.units = 3, .activation = relu}); }));
  CHECK(apart([](symbol x) { return reshape(reshape(x, {extent{-1}, 2}), {extent{-1}, 4}); }));
  CHECK(apart([](symbol x) {
    return reduce_sum(matmul(reshape(x, {x.dims()[0], 2, 2}), reshape(x, {x.dims()[0], 2, 2})), {{1, 2}});
  }));
  CHECK_FALSE(apart([](symbol x) { return sub(x, reduce_mean(x, {{0}})); }));
  CHECK_FALSE(apart([](symbol x) { return cumsum(x, 0); }));
  CHECK_FALSE(apart([](symbol x) { return reverse(x, {0}); }));
  CHECK_FALSE(apart([](symbol x) { return mul(x, reduce_max(x)); }));
  CHECK_FALSE(apart([](symbol x) { return reduce_mean(x); }));
  CHECK_FALSE(apart([](symbol x) { return tile(x, {2, 1}); }));
  CHECK_FALSE(apart([](symbol x) { return transpose(x); }));
  CHECK_FALSE(apart([](symbol x) { return dropout(x, 0.5, true); }));
  CHECK_FALSE(apart([](symbol x) { return reshape(reduce_sum(x, {{1}}), {extent{1}, x.dims()[0]}); }));
}

TEST_CASE("rows are apart in every recurrent layer, with lengths too, and in any order of time and batch") {
  using layer_of_both = std::function<symbol(symbol, symbol)>;
  const auto apart = [](const layer_of_both& f) {
    graph g;
    const extent batch = g.unknown("batch");
    const symbol y = f(g.placeholder("x", dtype::float32, {batch, 5, 3}),
                       g.placeholder("lengths", dtype::int32, {batch}));
    REQUIRE_MESSAGE(g.status(), (g.status() ? "" : g.status().error().message));
    return rows_are_apart(g, std::vector<int32_t>{y.node()});
  };
  for (const bool with : {false, true}) {
    CAPTURE(with);
    const auto lstm = [with](symbol n) { return nn::lstm_options{.units = 4, .lengths = with ? n : symbol{}}; };
    const auto gru = [with](symbol n) { return nn::gru_options{.units = 4, .lengths = with ? n : symbol{}}; };
    CHECK(apart([&](symbol x, symbol n) { return nn::lstm(x, lstm(n)).outputs; }));
    CHECK(apart([&](symbol x, symbol n) { return nn::lstm(x, lstm(n)).last.h; }));
    CHECK(apart([&](symbol x, symbol n) { return nn::gru(x, gru(n)).outputs; }));
    CHECK(apart([&](symbol x, symbol n) { return nn::gru(x, gru(n)).last; }));
    CHECK(apart([&](symbol x, symbol n) { return nn::bidirectional(x, lstm(n)).outputs; }));
    CHECK(apart([&](symbol x, symbol n) { return nn::bidirectional(x, gru(n)).outputs; }));
  }
  CHECK(apart([](symbol x, symbol n) { return nn::reverse_sequence(x, n); }));
  CHECK(apart([](symbol x, symbol) { return transpose(softmax(transpose(x, {1, 0, 2})), {1, 0, 2}); }));
  // [5 · batch, 3], where the rows of one step are adjacent.
  const auto timed = [](symbol x) { return reshape(transpose(x, {1, 0, 2}), {extent{-1}, 3}); };
  CHECK(apart([&](symbol x, symbol) { return transpose(reshape(timed(x), {5, x.dims()[0], 3}), {1, 0, 2}); }));
  CHECK_FALSE(apart([&](symbol x, symbol) { return reshape(timed(x), {x.dims()[0], 5, 3}); }));
  CHECK_FALSE(apart([&](symbol x, symbol) {
    return reshape(timed(x) + reshape(x, {extent{-1}, 3}), {x.dims()[0], 5, 3});
  }));
  CHECK_FALSE(apart([](symbol x, symbol) { return transpose(softmax(transpose(x, {1, 2, 0})), {2, 0, 1}); }));
  CHECK_FALSE(apart([](symbol x, symbol) {
    const symbol timed_rows = transpose(x, {1, 0, 2});
    return transpose(timed_rows - reduce_mean(timed_rows, {{1}, true}), {1, 0, 2});
  }));
  CHECK_FALSE(apart([](symbol x, symbol) { return transpose(x - reduce_mean(x, {{0}, true}), {0, 2, 1}); }));
}

TEST_CASE("a look-up by an offset of each row is apart only where it can be seen to stay within the row") {
  const auto apart = [](int64_t stride, int64_t least, int64_t greatest) {
    graph g;
    const extent batch = g.unknown("batch");
    const symbol x = g.placeholder("x", dtype::float32, {batch, 5, 3}),
                 from = g.placeholder("from", dtype::int64, {batch, 4});
    const auto number = [&](int64_t n) { return g.constant(tensor::scalar(n)); };
    const symbol first = cumsum(broadcast_to(number(stride), {batch}), 0, {.exclusive = true});
    const symbol within = maximum(minimum(from, number(greatest)), number(least));
    const symbol y = gather(reshape(x, {extent{-1}, 3}), reshape(first, {batch, extent{1}}) + within);
    REQUIRE_MESSAGE(g.status(), (g.status() ? "" : g.status().error().message));
    return rows_are_apart(g, std::vector<int32_t>{y.node()});
  };
  CHECK(apart(5, 0, 4));
  CHECK_FALSE(apart(5, 0, 5));
  CHECK_FALSE(apart(5, -1, 4));
  CHECK_FALSE(apart(4, 0, 3));
}

}  // namespace troupe
