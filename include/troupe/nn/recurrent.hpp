// Recurrent layers: cells for one step, and sequences unrolled in the graph. nn.hpp has the rules of all layers.
// Not needed to begin with.
//
//   auto words = tr::nn::lstm(x, {.units = 200});  // [batch, time, features]
//   use(words.outputs, words.last.h);
//
// Cells can be used in your own loops: make the variables once, and all steps share them.
//
//   const auto w = tr::nn::gru_variables(x, {.units = 64});
//   for (int i = 0; i < 3; ++i)
//     h = tr::nn::gru_cell(x, h, w);
#pragma once

#include <troupe/operations.hpp>

namespace troupe::nn {

// -- LSTM --------------------------------------------------------------------------
// Hochreiter & Schmidhuber 1997 with the forget gate of Gers et al. 2000; formulas, gate order and variables of
// TensorFlow's BasicLSTMCell:
//
//   [i, j, f, o] = [x, h] · kernel + bias
//   c' = σ(f + forget_bias) · c + σ(i) · activation(j)
//   h' = σ(o) · activation(c')

struct lstm_options {
  int64_t units = 0;
  double forget_bias = 1;  ///< Added to f, so that a new cell forgets little.
  troupe::activation activation = troupe::tanh;
  initializer kernel = init::glorot_uniform();
  symbol lengths = {};  ///< Only for sequences: see `lstm`.
  std::string name = "lstm";
};
struct lstm_state {
  symbol c, h;
};  ///< Each [batch, units].
struct lstm_weights {
  symbol kernel = {}, bias = {};  ///< [n + units, 4 · units], [4 · units]
  double forget_bias = 1;
  troupe::activation activation = troupe::tanh;
};
/// Makes the variables `<name>/kernel` and `<name>/bias` (zeros) for inputs [..., n] of x's dtype.
TROUPE_API lstm_weights lstm_variables(symbol x, lstm_options options, TROUPE_AT);
/// One step: x [batch, n] and a state -> the next state, whose h is the output.
TROUPE_API lstm_state lstm_cell(symbol x, const lstm_state& state, const lstm_weights& weights, TROUPE_AT);

struct lstm_sequence {
  symbol outputs;   ///< h of each step, [batch, time, units].
  lstm_state last;  ///< The state after the last step.
};
/// Runs the cell over x [batch, time, n], where time is known and at least 1. The first state is `initial`, or zeros if
/// that is invalid. The inputs of all steps are multiplied at once. `lengths`, if given, are int32 or int64 [batch]:
/// from its length on, a row keeps its state and has outputs of 0 (tf.nn.dynamic_rnn's sequence_length). A length above
/// the time counts as the time.
TROUPE_API lstm_sequence lstm(symbol x, lstm_options options, lstm_state initial = {}, TROUPE_AT);

// -- GRU ---------------------------------------------------------------------------
// Cho et al. 2014; formulas, gate order and variables of Keras' GRU with reset_after = false:
//
//   z = σ(x · kernel_z + h · recurrent_z + bias_z)
//   r = σ(x · kernel_r + h · recurrent_r + bias_r)
//   h' = z · h + (1 - z) · activation(x · kernel_h + (r · h) · recurrent_h + bias_h)

struct gru_options {
  int64_t units = 0;
  troupe::activation activation = troupe::tanh;
  initializer kernel = init::glorot_uniform();
  initializer recurrent_kernel = init::orthogonal();
  symbol lengths = {};  ///< Only for sequences: see `lstm`.
  std::string name = "gru";
};
struct gru_weights {
  symbol kernel = {}, recurrent_kernel = {}, bias = {};  ///< [n, 3 · units], [units, 3 · units], [3 · units]: z, r, h.
  troupe::activation activation = troupe::tanh;
};
/// Makes variables `<name>/kernel`, `<name>/recurrent_kernel`, `<name>/bias` (zeros) for inputs [..., n] of x's dtype.
TROUPE_API gru_weights gru_variables(symbol x, gru_options options, TROUPE_AT);
/// One step: x [batch, n] and the state [batch, units] -> the next state, which is also the output.
TROUPE_API symbol gru_cell(symbol x, symbol state, const gru_weights& weights, TROUPE_AT);

struct gru_sequence {
  symbol outputs;  ///< [batch, time, units]
  symbol last;     ///< The last output, [batch, units].
};
/// Runs the cell over x, as `lstm` does.
TROUPE_API gru_sequence gru(symbol x, gru_options options, symbol initial = {}, TROUPE_AT);

// -- both directions -----------------------------------------------------------------
// Schuster & Paliwal 1997, as tf.nn.bidirectional_dynamic_rnn: a second layer with its own variables reads each row
// from its end.

/// Reverses the first lengths[b] steps of row b of x [batch, time, ...]; without lengths, all steps. Other steps keep
/// their places. Time and the extents after it must be known. tf.reverse_sequence.
TROUPE_API symbol reverse_sequence(symbol x, symbol lengths = {}, TROUPE_AT);

struct bidirectional_lstm {
  lstm_sequence forward, backward;  ///< Outputs are at the time of their inputs; `backward.last` is after step 0.
  symbol outputs;                   ///< The outputs of both, concatenated: [batch, time, 2 · units].
};
/// Runs a layer in each direction. Variables `bidirectional/fw/<name>/...` and `bidirectional/bw/<name>/...`.
TROUPE_API bidirectional_lstm bidirectional(symbol x, const lstm_options& options, TROUPE_AT);

struct bidirectional_gru {
  gru_sequence forward, backward;
  symbol outputs;
};
TROUPE_API bidirectional_gru bidirectional(symbol x, const gru_options& options, TROUPE_AT);

}  // namespace troupe::nn
