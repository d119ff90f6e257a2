#include "compute/nn/layer.hpp"

#include <troupe/nn/recurrent.hpp>

namespace troupe::nn {
namespace {

/// [batch, time, n] as [time, batch, n], or back: with time first, each step is contiguous.
symbol swap_time_and_batch(symbol x, std::source_location at) { return transpose(x, {1, 0, 2}, at); }

/// Splits x [time, batch, n] into `time` symbols [batch, n]; none if x is invalid.
std::vector<symbol> steps_of(symbol x, std::source_location at) {
  std::vector<symbol> steps;
  if (x.valid())
    for (int64_t t = 0; t < x.dims()[0].coefficient; ++t)
      steps.push_back(squeeze(slice(x, 0, t, 1, at), {0}, at));
  return steps;
}

/// The terms that x [batch, time, n] adds to the gates of every step, as [time, batch, gates]. One product computes all
/// steps.
symbol inputs_of_gates(symbol x, symbol kernel, symbol bias, std::source_location at) {
  const symbol turned = swap_time_and_batch(x, at);
  const symbol rows = add(matmul(reshape(turned, {extent{-1}, x.dims()[2]}, at), kernel, {}, at), bias, at);
  return reshape(rows, with_last(turned, bias.dims()[0]), at);
}

/// Stacks one symbol [batch, units] per step to [batch, time, units].
symbol sequence_of(const std::vector<symbol>& steps, std::source_location at) {
  return swap_time_and_batch(stack(steps, 0, at), at);
}

std::string needs_inputs(symbol x, int64_t units) {
  return "needs a floating operand with a known number of features and units of at least 1, not " + describe(x)
         + " and " + std::to_string(units);
}

bool is_sequence(symbol x) {
  return has_features(x, 3) && x.rank() == 3 && x.dims()[1].known() && x.dims()[1].coefficient >= 1;
}

std::string needs_sequence(symbol x, int64_t units) {
  return "needs floating [batch, time, features] of known time and features and units of at least 1, not " + describe(x)
         + " and " + std::to_string(units);
}

/// Whether s is of x's dtype and [batch, units].
bool is_state(symbol s, symbol x, int64_t units) {
  return s.type() == x.type() && s.dims() == symbol_shape{x.dims()[0], extent{units}};
}

bool are_lengths(symbol lengths, symbol x) {
  return !given(lengths)
         || ((lengths.type() == dtype::int32 || lengths.type() == dtype::int64)
             && lengths.dims() == symbol_shape{x.dims()[0]});
}
std::string needs_lengths(symbol lengths, symbol x) {
  return "lengths must be int32 or int64 [" + to_string(*x.owner(), {x.dims()[0]}).substr(1) + ", not "
         + describe(lengths);
}

/// Whether step `t` lies within each row's length, as [batch, 1].
symbol within(symbol lengths, size_t t, std::source_location at) {
  const symbol now = fill(*lengths.owner(), static_cast<double>(t), lengths.type(), {}, at);
  return reshape(less(now, lengths, at), {lengths.dims()[0], extent{1}}, at);
}

/// Makes the variables in the current scope.
lstm_weights lstm_here(symbol x, const lstm_options& options, std::source_location at) {
  graph& g = *x.owner();
  const int64_t n = features_of(x), units = options.units;
  return {
      g.variable({.name = "kernel", .dims = {n + units, 4 * units}, .type = x.type(), .initial = options.kernel}, at),
      g.variable({.name = "bias", .dims = {4 * units}, .type = x.type()}, at), options.forget_bias, options.activation};
}

gru_weights gru_here(symbol x, const gru_options& options, std::source_location at) {
  graph& g = *x.owner();
  const int64_t n = features_of(x), units = options.units;
  return {g.variable({.name = "kernel", .dims = {n, 3 * units}, .type = x.type(), .initial = options.kernel}, at),
          g.variable({.name = "recurrent_kernel",
                      .dims = {units, 3 * units},
                      .type = x.type(),
                      .initial = options.recurrent_kernel},
                     at),
          g.variable({.name = "bias", .dims = {3 * units}, .type = x.type()}, at), options.activation};
}

/// The number of units of a bias for `gates` gates; 0 if it is not a vector of known extent.
int64_t units_of(symbol bias, int64_t gates) {
  return bias.rank() == 1 && bias.dims()[0].known() ? bias.dims()[0].coefficient / gates : 0;
}

/// The next c and h from the sums of the gates.
lstm_state next_state(symbol gates, symbol c, int64_t units, const lstm_weights& w, std::source_location at) {
  const auto part = split(gates, {units, units, units, units}, 1, at);
  const symbol input = part[0], candidate = part[1], output = part[3];
  symbol forget = part[2];
  if (w.forget_bias != 0)
    forget = add(forget, fill(*gates.owner(), w.forget_bias, gates.type(), {}, at), at);
  const symbol next = add(mul(sigmoid(forget, at), c, at), mul(sigmoid(input, at), w.activation(candidate, at), at),
                          at);
  return {next, mul(sigmoid(output, at), w.activation(next, at), at)};
}

/// The next state of a GRU. `from_x`: the products of the inputs for both gates and the candidate. `recurrent_gates`,
/// `recurrent_h`: the parts of the recurrent kernel for the gates and for the candidate.
symbol next_state(symbol from_x, symbol h, symbol recurrent_gates, symbol recurrent_h, int64_t units, activation f,
                  std::source_location at) {
  const auto part = split(from_x, {2 * units, units}, 1, at);
  const auto gates = split(sigmoid(add(part[0], matmul(h, recurrent_gates, {}, at), at), at), {units, units}, 1, at);
  const symbol candidate = f(add(part[1], matmul(mul(gates[1], h, at), recurrent_h, {}, at), at), at);
  // z·h + (1 - z)·candidate
  return add(candidate, mul(gates[0], sub(h, candidate, at), at), at);
}

}  // namespace

// -- LSTM --------------------------------------------------------------------------

lstm_weights lstm_variables(symbol x, lstm_options options, std::source_location at) {
  graph* g = common_graph("lstm", {x}, at);
  if (!g)
    return {x, x};
  if (!has_features(x, 1) || options.units < 1 || !options.activation) {
    const symbol invalid = refuse(*g, "lstm", needs_inputs(x, options.units), at);
    return {invalid, invalid};
  }
  const auto scope = g->scope(options.name);
  return lstm_here(x, options, at);
}

lstm_state lstm_cell(symbol x, const lstm_state& state, const lstm_weights& w, std::source_location at) {
  graph* g = common_graph("lstm_cell", {x, state.c, state.h, w.kernel, w.bias}, at);
  const symbol invalid = invalid_of({x, state.c, state.h, w.kernel});
  if (!g)
    return {invalid, invalid};
  const int64_t units = units_of(w.bias, 4);
  if (!has_features(x, 2) || x.rank() != 2 || !is_state(state.c, x, units) || !is_state(state.h, x, units)
      || w.kernel.dims() != symbol_shape{features_of(x) + units, 4 * units}) {
    refuse(*g, "lstm_cell",
           describe(x) + " and the state " + describe(state.c) + ", " + describe(state.h) + " do not fit the kernel "
               + describe(w.kernel),
           at);
    return {invalid, invalid};
  }
  const auto scope = g->scope("lstm_cell");
  const symbol both[] = {x, state.h};
  return next_state(add(matmul(concat(both, 1, at), w.kernel, {}, at), w.bias, at), state.c, units, w, at);
}

lstm_sequence lstm(symbol x, lstm_options options, lstm_state initial, std::source_location at) {
  graph* g = common_graph("lstm", {x}, at);
  const symbol invalid = invalid_of({x});
  const lstm_sequence nothing{invalid, {invalid, invalid}};
  if (!g)
    return nothing;
  if (!is_sequence(x) || options.units < 1 || !options.activation) {
    refuse(*g, "lstm", needs_sequence(x, options.units), at);
    return nothing;
  }
  const auto scope = g->scope(options.name);
  const int64_t n = features_of(x), units = options.units;
  const symbol zeros = fill(*g, 0, x.type(), {x.dims()[0], extent{units}}, at);
  lstm_state state{given(initial.c) ? initial.c : zeros, given(initial.h) ? initial.h : zeros};
  if (!common_graph("initial state", {x, state.c, state.h}, at))
    return nothing;
  if (!is_state(state.c, x, units) || !is_state(state.h, x, units)) {
    refuse(*g, "lstm",
           "the initial state must be two of " + describe(zeros) + ", not " + describe(state.c) + " and "
               + describe(state.h),
           at);
    return nothing;
  }
  if (given(options.lengths) && !common_graph("lengths", {x, options.lengths}, at))
    return nothing;
  if (!are_lengths(options.lengths, x)) {
    refuse(*g, "lstm", needs_lengths(options.lengths, x), at);
    return nothing;
  }
  const lstm_weights w = lstm_here(x, options, at);
  const symbol of_x = slice(w.kernel, 0, 0, n, at), of_h = slice(w.kernel, 0, n, units, at);
  std::vector<symbol> outputs;
  for (symbol from_x : steps_of(inputs_of_gates(x, of_x, w.bias, at), at)) {
    const lstm_state next = next_state(add(from_x, matmul(state.h, of_h, {}, at), at), state.c, units, w, at);
    if (!given(options.lengths)) {
      state = next;
      outputs.push_back(next.h);
      continue;
    }
    const symbol goes_on = within(options.lengths, outputs.size(), at);
    state = {select(goes_on, next.c, state.c, at), select(goes_on, next.h, state.h, at)};
    outputs.push_back(select(goes_on, next.h, zeros, at));
  }
  return outputs.empty() ? nothing : lstm_sequence{sequence_of(outputs, at), state};
}

// -- GRU ---------------------------------------------------------------------------

gru_weights gru_variables(symbol x, gru_options options, std::source_location at) {
  graph* g = common_graph("gru", {x}, at);
  if (!g)
    return {x, x, x};
  if (!has_features(x, 1) || options.units < 1 || !options.activation) {
    const symbol invalid = refuse(*g, "gru", needs_inputs(x, options.units), at);
    return {invalid, invalid, invalid};
  }
  const auto scope = g->scope(options.name);
  return gru_here(x, options, at);
}

symbol gru_cell(symbol x, symbol state, const gru_weights& w, std::source_location at) {
  graph* g = common_graph("gru_cell", {x, state, w.kernel, w.recurrent_kernel, w.bias}, at);
  if (!g)
    return invalid_of({x, state, w.kernel});
  const int64_t units = units_of(w.bias, 3);
  if (!has_features(x, 2) || x.rank() != 2 || !is_state(state, x, units)
      || w.kernel.dims() != symbol_shape{features_of(x), 3 * units}
      || w.recurrent_kernel.dims() != symbol_shape{units, 3 * units})
    return refuse(*g, "gru_cell",
                  describe(x) + " and the state " + describe(state) + " do not fit the kernel " + describe(w.kernel),
                  at);
  const auto scope = g->scope("gru_cell");
  const auto recurrent = split(w.recurrent_kernel, {2 * units, units}, 1, at);
  return next_state(add(matmul(x, w.kernel, {}, at), w.bias, at), state, recurrent[0], recurrent[1], units,
                    w.activation, at);
}

gru_sequence gru(symbol x, gru_options options, symbol initial, std::source_location at) {
  graph* g = common_graph("gru", {x}, at);
  const symbol invalid = invalid_of({x});
  if (!g)
    return {invalid, invalid};
  if (!is_sequence(x) || options.units < 1 || !options.activation)
    return {refuse(*g, "gru", needs_sequence(x, options.units), at), invalid};
  const auto scope = g->scope(options.name);
  const int64_t units = options.units;
  const symbol zeros = fill(*g, 0, x.type(), {x.dims()[0], extent{units}}, at);
  symbol state = given(initial) ? initial : zeros;
  if (!common_graph("initial state", {x, state}, at))
    return {invalid, invalid};
  if (!is_state(state, x, units))
    return {refuse(*g, "gru", "the initial state must be " + describe(zeros) + ", not " + describe(state), at),
            invalid};
  if (given(options.lengths) && !common_graph("lengths", {x, options.lengths}, at))
    return {invalid, invalid};
  if (!are_lengths(options.lengths, x))
    return {refuse(*g, "gru", needs_lengths(options.lengths, x), at), invalid};
  const gru_weights w = gru_here(x, options, at);
  const auto recurrent = split(w.recurrent_kernel, {2 * units, units}, 1, at);
  std::vector<symbol> outputs;
  for (symbol from_x : steps_of(inputs_of_gates(x, w.kernel, w.bias, at), at)) {
    const symbol next = next_state(from_x, state, recurrent[0], recurrent[1], units, w.activation, at);
    if (!given(options.lengths)) {
      state = next;
      outputs.push_back(next);
      continue;
    }
    const symbol goes_on = within(options.lengths, outputs.size(), at);
    state = select(goes_on, next, state, at);
    outputs.push_back(select(goes_on, next, zeros, at));
  }
  return outputs.empty() ? gru_sequence{invalid, invalid} : gru_sequence{sequence_of(outputs, at), state};
}

}  // namespace troupe::nn
