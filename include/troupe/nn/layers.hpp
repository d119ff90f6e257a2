// Common layers: dense, embedding, feed-forward, residual. nn.hpp has the rules of all layers.
// Not needed to begin with.
#pragma once

#include <troupe/operations.hpp>

namespace troupe::nn {

struct dense_options {
  int64_t units = 0;                        ///< Outputs, at least 1.
  troupe::activation activation = nullptr;  ///< Null: linear.
  bool bias = true;
  initializer kernel = init::glorot_uniform();
  std::string name = "dense";
};
/// activation(x · kernel + bias) over the last axis; x [..., n] of at least two axes -> [..., units]. Variables
/// `<name>/kernel` [n, units], `<name>/bias` [units].
TROUPE_API symbol dense(symbol x, dense_options options, TROUPE_AT);

struct embedding_options {
  int64_t entries = 0;  ///< Number of rows, at least 1.
  int64_t units = 0;    ///< Elements of a row, at least 1.
  dtype type = dtype::float32;
  initializer embeddings = init::uniform(-0.05, 0.05);
  std::string name = "embedding";
};
/// Looks up the row of each index: int32 or int64 [...] -> [..., units]. Variable `<name>/embeddings` [entries, units].
/// If the model uses it only here, the cost of a step is that of the rows read (optimizer.hpp). An index outside [0,
/// entries) is an error of the step that names it.
TROUPE_API symbol embedding(symbol indices, embedding_options options, TROUPE_AT);

struct feed_forward_options {
  int64_t hidden = 0;                    ///< Units of the hidden layer, at least 1.
  int64_t units = 0;                     ///< Outputs; 0: as many as x has.
  troupe::activation activation = relu;  ///< Of the hidden layer.
  double dropout = 0;                    ///< Dropout rate of the hidden layer while `training`, in [0, 1).
  bool training = false;
  initializer kernel = init::glorot_uniform();
  std::string name = "feed_forward";
};
/// activation(x · W1 + b1) · W2 + b2 at every position; x [..., n] -> [..., units]. Vaswani et al. 2017, eq. 2.
/// Variables `<name>/hidden/{kernel,bias}`, `<name>/output/{kernel,bias}`.
TROUPE_API symbol feed_forward(symbol x, feed_forward_options options, TROUPE_AT);

struct residual_options {
  double dropout = 0;  ///< Dropout rate of y while `training`, in [0, 1).
  bool training = false;
};
/// x + y, where both have one dtype and shape; nothing is broadcast. He et al. 2016, eq. 1, y = F(x); with dropout of
/// y, Vaswani et al. 2017, 5.4.
TROUPE_API symbol residual(symbol x, symbol y, residual_options options = {}, TROUPE_AT);

}  // namespace troupe::nn
