// A classifier of layers that are listed one after the other, such as a convolutional network.
//
//   auto model = tr::sequential_classifier({
//     .layers = {tr::layer::conv2d{.filters = 32, .kernel_size = {3, 3}, .activation = tr::relu}, tr::layer::max_pool{},
//                tr::layer::flatten{}, tr::layer::dense{.units = 128, .activation = tr::relu}, tr::layer::dropout{.rate = 0.5}},
//     .classes = 10,
//     .input_shape = {28, 28, 1}});
#pragma once

#include <troupe/model.hpp>

#include <variant>

namespace troupe {

/// What a sequential model is made of: the options of the functions of nn.hpp that are called alike, which say what each does.
namespace layer {
using conv2d = nn::conv2d_options;
using conv2d_transpose = nn::conv2d_transpose_options;
using depthwise_conv2d = nn::depthwise_conv2d_options;
using separable_conv2d = nn::separable_conv2d_options;
using max_pool = nn::max_pool_options;
using average_pool = nn::average_pool_options;
struct global_max_pool {};
struct global_average_pool {};
struct flatten {};
using dense = nn::dense_options;          ///< Over the last axis: of an image, of each pixel by itself.
using dropout = nn::dropout_options;
using batch_norm = nn::batch_norm_options;
using layer_norm = nn::layer_norm_options;
struct activation { troupe::activation function = relu; };
}  // namespace layer

using sequential_layer = std::variant<layer::conv2d, layer::conv2d_transpose, layer::depthwise_conv2d, layer::separable_conv2d, layer::max_pool,
                                      layer::average_pool, layer::global_max_pool, layer::global_average_pool, layer::flatten, layer::dense,
                                      layer::dropout, layer::batch_norm, layer::layer_norm, layer::activation>;
/// "conv2d"; in the order of the variant.
TROUPE_API std::string_view name_of(const sequential_layer& layer) noexcept;

struct sequential_classifier_options {
  std::vector<sequential_layer> layers;
  int64_t classes = 0;                        ///< At least 2; may be left 0 beside a vocabulary.
  /// What each example is taken as, without the batch: of as many elements as its features have. Empty: as the feature is.
  std::vector<int64_t> input_shape = {};
  troupe::optimizer optimizer = adam{};
  std::vector<std::string> vocabulary = {};   ///< As of dnn_classifier,
  double label_smoothing = 0;                 ///<   as this.
  /// What errors call layer i, such as a place in a file; "sequential_classifier: layers[i]" where there is none.
  std::vector<std::string> places = {};
};
/// The layers in their order, then a dense one to the logits, of all that the last one yields; a multi_class_head. Several features
/// are flattened and put side by side in the order of their names; each must be float32. Variables are those of the layers,
/// `conv2d/kernel`, `conv2d_1/kernel`, ..., and `logits/{kernel,bias}`. What does not fit is kept for whoever builds the model to
/// report, with the layer's place and name.
TROUPE_API model sequential_classifier(sequential_classifier_options options);

}  // namespace troupe
