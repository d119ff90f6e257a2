// Layers of image models: convolutions, pooling, flatten, dropout. nn.hpp has the rules of all layers.
// Not needed to begin with.
//
//   auto h = tr::nn::conv2d(x, {.filters = 32, .kernel_size = {3, 3}, .activation = tr::relu});
//   h = tr::nn::dense(tr::nn::flatten(tr::nn::max_pool(h)), {.units = 128, .activation = tr::relu});
//
// Images are [batch, height, width, channels]; all extents but the batch must be known. Pairs are {height, width}.
// Defaults are those of tf.layers: no padding (`valid`).
#pragma once

#include <troupe/operations.hpp>

namespace troupe::nn {

struct conv2d_options {
  int64_t filters = 0;  ///< Output channels.
  std::array<int64_t, 2> kernel_size{0, 0};
  std::array<int64_t, 2> strides{1, 1};
  std::array<int64_t, 2> dilation{1, 1};  ///< Distance between adjacent kernel elements.
  troupe::padding padding = padding::valid;
  int64_t groups = 1;                       ///< Group g of the filters reads only group g of the channels.
  troupe::activation activation = nullptr;  ///< Null: linear.
  bool bias = true;
  initializer kernel = init::glorot_uniform();
  std::string name = "conv2d";
};
/// activation(conv2d(x, kernel) + bias): [batch, height', width', filters]. Variables `<name>/kernel` [kernel height,
/// kernel width, channels / groups, filters], `<name>/bias` [filters].
TROUPE_API symbol conv2d(symbol x, conv2d_options options, TROUPE_AT);

struct conv2d_transpose_options {
  int64_t filters = 0;
  std::array<int64_t, 2> kernel_size{0, 0};
  std::array<int64_t, 2> strides{1, 1};
  troupe::padding padding = padding::valid;
  troupe::activation activation = nullptr;
  bool bias = true;
  initializer kernel = init::glorot_uniform();
  std::string name = "conv2d_transpose";
};
/// activation(conv2d_transpose(x, kernel) + bias); the operation conv2d_transpose defines the extents. Variables
/// `<name>/kernel` [kernel height, kernel width, filters, channels], `<name>/bias` [filters].
TROUPE_API symbol conv2d_transpose(symbol x, conv2d_transpose_options options, TROUPE_AT);

struct depthwise_conv2d_options {
  std::array<int64_t, 2> kernel_size{0, 0};
  std::array<int64_t, 2> strides{1, 1};
  std::array<int64_t, 2> dilation{1, 1};
  troupe::padding padding = padding::valid;
  int64_t depth_multiplier = 1;  ///< Outputs per channel.
  troupe::activation activation = nullptr;
  bool bias = true;
  initializer kernel = init::glorot_uniform();
  std::string name = "depthwise_conv2d";
};
/// activation(depthwise_conv2d(x, kernel) + bias): [batch, height', width', channels · depth_multiplier]. Variables
/// `<name>/depthwise_kernel` [kernel height, kernel width, channels, depth_multiplier], `<name>/bias`.
TROUPE_API symbol depthwise_conv2d(symbol x, depthwise_conv2d_options options, TROUPE_AT);

struct separable_conv2d_options {
  int64_t filters = 0;
  std::array<int64_t, 2> kernel_size{0, 0};
  std::array<int64_t, 2> strides{1, 1};
  std::array<int64_t, 2> dilation{1, 1};
  troupe::padding padding = padding::valid;
  int64_t depth_multiplier = 1;
  troupe::activation activation = nullptr;
  bool bias = true;
  initializer kernel = init::glorot_uniform();  ///< Of both kernels.
  std::string name = "separable_conv2d";
};
/// A depthwise convolution, then one with a 1 × 1 kernel, bias and activation. Chollet 2017. Variables
/// `<name>/depthwise_kernel` [kernel height, kernel width, channels, depth_multiplier], `<name>/pointwise_kernel` [1,
/// 1, channels · depth_multiplier, filters], `<name>/bias` [filters].
TROUPE_API symbol separable_conv2d(symbol x, separable_conv2d_options options, TROUPE_AT);

struct max_pool_options {
  std::array<int64_t, 2> size{2, 2};
  std::array<int64_t, 2> strides{0, 0};  ///< {0, 0}: equal to `size`, so that windows do not overlap.
  troupe::padding padding = padding::valid;
};
/// The operations of the same names (operations.hpp), with the options of a layer.
TROUPE_API symbol max_pool(symbol x, max_pool_options options = {}, TROUPE_AT);
struct average_pool_options {
  std::array<int64_t, 2> size{2, 2};
  std::array<int64_t, 2> strides{0, 0};  ///< As in max_pool_options.
  troupe::padding padding = padding::valid;
};
TROUPE_API symbol average_pool(symbol x, average_pool_options options = {}, TROUPE_AT);
/// [batch, height, width, channels] -> [batch, channels]
TROUPE_API symbol global_max_pool(symbol x, TROUPE_AT);
TROUPE_API symbol global_average_pool(symbol x, TROUPE_AT);

/// Joins all axes but the first: [batch, ...] -> [batch, n], any dtype. All extents but the first must be known.
TROUPE_API symbol flatten(symbol x, TROUPE_AT);

struct dropout_options {
  double rate = 0.5;
};
/// The operation dropout: x itself unless `training`. The rate is in [0, 1).
TROUPE_API symbol dropout(symbol x, bool training, dropout_options options = {}, TROUPE_AT);

}  // namespace troupe::nn
