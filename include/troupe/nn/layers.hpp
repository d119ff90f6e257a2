// Layers of most models (nn.hpp has what all layers share): dense, embedding, feed-forward, residual.
// Not needed to begin with.
#pragma once

#include <troupe/operations.hpp>

namespace troupe::nn {

struct dense_options {
  int64_t units = 0;
  troupe::activation activation = nullptr;  ///< None: linear.
  bool bias = true;
  initializer kernel = init::glorot_uniform();
  std::string name = "dense";
};
/// activation(x · kernel + bias) over the last axis; x [..., n] of at least two axes -> [..., units]. Variables
/// `<name>/kernel` [n, units], `<name>/bias` [units].
TROUPE_API symbol dense(symbol x, dense_options options, TROUPE_AT);

struct embedding_options {
  int64_t entries = 0;  ///< Indices are in [0, entries).
  int64_t units = 0;
  dtype type = dtype::float32;
  initializer embeddings = init::uniform(-0.05, 0.05);
  std::string name = "embedding";
};
/// Looks up the row of each index: int32 or int64 [...] -> [..., units]. Variable `<name>/embeddings` [entries, units];
/// if the model does nothing else with it, a step costs only what the rows that occur cost (optimizer.hpp). An index
/// outside is an error of the step that names it.
TROUPE_API symbol embedding(symbol indices, embedding_options options, TROUPE_AT);

struct feed_forward_options {
  int64_t hidden = 0;
  int64_t units = 0;                        ///< 0: as many as x has.
  troupe::activation activation = relu;
  double dropout = 0;                       ///< Dropout of the hidden layer, while `training`; in [0, 1).
  bool training = false;
  initializer kernel = init::glorot_uniform();
  std::string name = "feed_forward";
};
/// activation(x · W1 + b1) · W2 + b2 at every position; x [..., n] -> [..., units]. Vaswani et al. 2017, eq. 2. Variables
/// `<name>/hidden/{kernel,bias}`, `<name>/output/{kernel,bias}`.
TROUPE_API symbol feed_forward(symbol x, feed_forward_options options, TROUPE_AT);

struct residual_options {
  double dropout = 0;                       ///< Dropout of y, while `training`; in [0, 1).
  bool training = false;
};
/// x + y, of one dtype and shape, without broadcasting. He et al. 2016, eq. 1, y = F(x); with dropout of y Vaswani et
/// al. 2017, 5.4.
TROUPE_API symbol residual(symbol x, symbol y, residual_options options = {}, TROUPE_AT);

}  // namespace troupe::nn
