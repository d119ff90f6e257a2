// Ready-made generators of searches: dense, convolutional and linear subnetworks, and fixed lists.
// Not needed to begin with.
//
//   tr::search_options{.subnetwork_generator = tr::generators::simple_dnn({.optimizer = tr::rmsprop{.rate = 0.003f}})}
//
// Features must be float32. An option out of range is an error of the search when the generator is called
// (invalid_argument, which names it and its value). Initial values are drawn by seed and variable name, and names
// contain the iteration, so that equal subnetworks of two iterations begin with different values.
#pragma once

#include <troupe/search/generator.hpp>

namespace troupe::generators {

/// The same builders in each iteration.
TROUPE_API generator list(std::vector<builder> builders);

struct simple_dnn_options {
  troupe::optimizer optimizer = adam{};    ///< Of the subnetworks.
  std::vector<std::string> features = {};  ///< Their names; empty: all.
  int64_t layer_size = 32;                 ///< Units of a hidden layer, at least 1.
  int64_t initial_num_layers = 0;          ///< Hidden layers of the first candidate, at least 0.
  double dropout = 0;                      ///< Rate after each hidden layer while training, in [0, 1).
  /// Initial values depend on seed + iteration and the variable. Absent: on the seed of the run.
  std::optional<uint64_t> seed = {};
};
/// Two dense networks in each iteration: with as many hidden layers as the newest member of the previous ensemble, and
/// with one more. The names are "linear" and "<n>_layer_dnn", the complexity is the square root of the number of hidden
/// layers. Activations are relu, kernels begin as glorot_uniform, biases with 0. AdaNet's simple_dnn; its
/// `learn_mixture_weights` is `complexity_regularized_ensembler::optimizer` here.
TROUPE_API generator simple_dnn(simple_dnn_options options);

struct simple_cnn_options {
  troupe::optimizer optimizer = adam{};
  int64_t filters = 16;  ///< Of the convolution, at least 1.
  int64_t units = 64;    ///< Of the dense layer, at least 1.
  /// The image in each example, as {28, 28} or {28, 28, 1}, with as many elements as the feature. Empty: the feature
  /// has this shape already.
  std::vector<int64_t> input_shape = {};
  std::string name = "simple_cnn";
};
/// One network in each iteration for the only feature, an image [height, width, channels] or [height, width]: 3 × 3
/// convolution (`same`, relu), 2 × 2 max pooling, a dense layer (relu). Kernels begin as he_normal. The complexity
/// is 1.
TROUPE_API generator simple_cnn(simple_cnn_options options);

struct linear_options {
  troupe::optimizer optimizer = adam{};
  std::vector<std::string> features = {};  ///< Their names; empty: all.
  std::string name = "linear";
};
/// One linear model in each iteration, with weights and bias that begin with 0. The complexity is 0, and the last layer
/// is the features.
TROUPE_API generator linear(linear_options options);

}  // namespace troupe::generators
