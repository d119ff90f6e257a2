// A model from a list of layers, such as a convolutional network, with any head.
// Not needed to begin with.
//
//   auto model = tr::sequential_model({
//     .layers = {tr::layer::conv2d{.filters = 32, .kernel_size = {3, 3}, .activation = tr::relu},
//                tr::layer::max_pool{}, tr::layer::flatten{}, tr::layer::dense{.units = 128, .activation = tr::relu},
//                tr::layer::dropout{.rate = 0.5}},
//     .head = tr::multi_class_head{.classes = 10},
//     .input_shape = {28, 28, 1}});
#pragma once

#include <troupe/heads.hpp>
#include <troupe/nn.hpp>

#include <variant>

namespace troupe {

/// Layers of a sequential model: the options of the functions with the same names (nn.hpp), which document them.
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
using dense = nn::dense_options;  ///< Over the last axis: each pixel of an image separately.
using dropout = nn::dropout_options;
using batch_norm = nn::batch_norm_options;
using layer_norm = nn::layer_norm_options;
struct activation {
  troupe::activation function = relu;
};
}  // namespace layer

using sequential_layer = std::variant<layer::conv2d, layer::conv2d_transpose, layer::depthwise_conv2d,
                                      layer::separable_conv2d, layer::max_pool, layer::average_pool,
                                      layer::global_max_pool, layer::global_average_pool, layer::flatten, layer::dense,
                                      layer::dropout, layer::batch_norm, layer::layer_norm, layer::activation>;
/// The name of a layer's kind, such as "conv2d".
TROUPE_API std::string_view name_of(const sequential_layer& layer) noexcept;

struct sequential_layers_options {
  std::vector<sequential_layer> layers = {};
  std::vector<int64_t> input_shape = {};   ///< As in sequential_model_options.
  std::string name = "sequential_layers";  ///< In errors: who has these layers.
  std::vector<std::string> places = {};    ///< As in sequential_model_options.
};
/// The output of the layers for features, as a sequential_model makes it: in a graph of your own, such as that of a
/// builder (search/builder.hpp). Errors of a layer are errors of the graph, with place and name.
TROUPE_API symbol sequential_layers(graph& g, const features& x, const sequential_layers_options& options, mode m);

struct sequential_model_options {
  std::vector<sequential_layer> layers = {};
  troupe::head head = {};
  /// The shape of one example, without the batch axis, with as many elements as its features. Empty: that of the
  /// feature.
  std::vector<int64_t> input_shape = {};
  troupe::optimizer optimizer = adam{};
  /// Names of the layers in errors, such as their lines in a file. Empty: "sequential_model: layers[i]".
  std::vector<std::string> places = {};
};
/// The layers in order, then a dense layer from the whole output of the last one to the logits. Features must be
/// float32; several are flattened and concatenated in the order of their names, without weight features (heads.hpp).
/// Variables are those of the layers, `conv2d/kernel`, `conv2d_1/kernel`, ..., and `logits/{kernel,bias}`. Layers that
/// do not fit are reported when the model is built, with place and name.
TROUPE_API model sequential_model(sequential_model_options options, TROUPE_AT);

struct sequential_classifier_options {
  std::vector<sequential_layer> layers = {};
  int64_t classes = 0;                    ///< At least 2; 0 takes the size of `vocabulary`.
  std::vector<int64_t> input_shape = {};  ///< As in sequential_model_options.
  troupe::optimizer optimizer = adam{};
  std::vector<std::string> vocabulary = {};  ///< This and the next two members: as in multi_class_head.
  double label_smoothing = 0;
  bool confusion_matrix = false;
  /// Names of the layers in errors. Empty: "sequential_classifier: layers[i]".
  std::vector<std::string> places = {};
};
/// A sequential_model with a multi_class_head, also for two classes.
TROUPE_API model sequential_classifier(sequential_classifier_options options, TROUPE_AT);

}  // namespace troupe
