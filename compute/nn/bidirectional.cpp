// Layers that read a sequence from both ends.
#include "compute/nn/layer.hpp"

#include <troupe/nn/recurrent.hpp>

namespace troupe::nn {
namespace {

/// Runs `layer` forward on x, and backward on the reverse of x, whose outputs are put back in order.
template <class Both, class Options, class Layer>
Both from_both_ends(symbol x, const Options& options, Layer layer, std::source_location at) {
  graph* g = common_graph("bidirectional", {x}, at);
  Both both;
  if (!g)
    return both;
  const auto scope = g->scope("bidirectional");
  {
    const auto fw = g->scope("fw");
    both.forward = layer(x, options);
  }
  {
    const auto bw = g->scope("bw");
    both.backward = layer(reverse_sequence(x, options.lengths, at), options);
    both.backward.outputs = reverse_sequence(both.backward.outputs, options.lengths, at);
  }
  const symbol outputs[] = {both.forward.outputs, both.backward.outputs};
  both.outputs = concat(outputs, -1, at);
  return both;
}

}  // namespace

symbol reverse_sequence(symbol x, symbol lengths, std::source_location at) {
  graph* g = given(lengths) ? common_graph("reverse_sequence", {x, lengths}, at)
                            : common_graph("reverse_sequence", {x}, at);
  if (!g)
    return invalid_of({x, lengths});
  bool known = x.rank() >= 2;
  for (size_t i = 1; known && i < x.dims().size(); ++i)
    known = x.dims()[i].known();
  if (!known
      || (given(lengths)
          && ((lengths.type() != dtype::int32 && lengths.type() != dtype::int64)
              || lengths.dims() != symbol_shape{x.dims()[0]})))
    return refuse(*g, "reverse_sequence",
                  "needs [batch, time, ...], known but for the batch, and int32 or int64 lengths [batch], not "
                      + describe(x) + (given(lengths) ? " and " + describe(lengths) : ""),
                  at);
  if (!given(lengths))
    return reverse(x, {1}, at);
  const auto scope = g->scope("reverse_sequence");
  const extent batch = x.dims()[0];
  const int64_t time = x.dims()[1].coefficient;
  std::vector<int64_t> steps(static_cast<size_t>(time));
  for (size_t t = 0; t < steps.size(); ++t)
    steps[t] = static_cast<int64_t>(t);
  const symbol t = g->constant(tensor::of<int64_t>({time}, std::span<const int64_t>{steps}), at);
  const auto number = [&](int64_t n) { return fill(*g, static_cast<double>(n), dtype::int64, {}, at); };
  const symbol of_row = reshape(minimum(cast(lengths, dtype::int64, at), number(time), at), {batch, extent{1}}, at);
  // The bounds change no value; they let `rows_are_apart` see that no row reads steps of another row.
  const symbol from = maximum(
      minimum(select(less(t, of_row, at), sub(sub(of_row, number(1), at), t, at), t, at), number(time - 1), at),
      number(0), at);
  // The rows of all sequences lie one after the other; sequence b begins at b * time.
  const symbol first = cumsum(fill(*g, static_cast<double>(time), dtype::int64, {batch}, at), 0, {.exclusive = true},
                              at);
  symbol_shape rows{extent{-1}};
  rows.insert(rows.end(), x.dims().begin() + 2, x.dims().end());
  return gather(reshape(x, std::move(rows), at), add(reshape(first, {batch, extent{1}}, at), from, at), 0, at);
}

bidirectional_lstm bidirectional(symbol x, const lstm_options& options, std::source_location at) {
  return from_both_ends<bidirectional_lstm>(
      x, options, [at](symbol from, const lstm_options& o) { return lstm(from, o, {}, at); }, at);
}

bidirectional_gru bidirectional(symbol x, const gru_options& options, std::source_location at) {
  return from_both_ends<bidirectional_gru>(
      x, options, [at](symbol from, const gru_options& o) { return gru(from, o, {}, at); }, at);
}

}  // namespace troupe::nn
