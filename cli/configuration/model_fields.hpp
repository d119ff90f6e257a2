// The option tables of models and layers (option_field.hpp), which are the keys of [model] and [[model.layers]]. Those
// of heads are in head_fields.hpp.
#pragma once

#include <troupe/canned_models.hpp>
#include <troupe/options/head_fields.hpp>
#include <troupe/options/option_field.hpp>
#include <troupe/sequential.hpp>

namespace troupe {

namespace cli {
/// The values of model.type. A classifier has its own head, the others take the one of [head].
using model_choice = std::variant<dnn_classifier_options, sequential_classifier_options, dnn_model_options,
                                  linear_model_options, dnn_linear_combined_model_options, baseline_model_options,
                                  sequential_model_options>;
/// The types for one of several heads, and the values of head.type.
using single_head = std::variant<binary_head, multi_class_head, multi_label_head, regression_head, poisson_head>;
using head_choice = std::variant<binary_head, multi_class_head, multi_label_head, regression_head, poisson_head,
                                 multi_head>;
}  // namespace cli

// -- values by name --------------------------------------------------------------

template <>
struct option_choices<padding> {
  static constexpr std::pair<std::string_view, padding> all[] = {{"valid", padding::valid}, {"same", padding::same}};
};
template <>
struct option_choices<activation> {
  static constexpr std::pair<std::string_view, activation> all[] = {
      {"relu", relu},         {"elu", elu},     {"gelu", gelu}, {"gelu_tanh", gelu_tanh}, {"sigmoid", sigmoid},
      {"softplus", softplus}, {"swish", swish}, {"tanh", tanh}, {"none", nullptr}};
};
template <>
struct option_choices<initializer> {
  static inline const std::pair<std::string_view, initializer> all[] = {
      {"glorot_uniform", init::glorot_uniform()}, {"glorot_normal", init::glorot_normal()},
      {"he_uniform", init::he_uniform()},         {"he_normal", init::he_normal()},
      {"lecun_uniform", init::lecun_uniform()},   {"lecun_normal", init::lecun_normal()},
      {"orthogonal", init::orthogonal()},         {"zeros", init::zeros()}};
};
inline std::string option_text(const initializer& value) {
  for (const auto& [name, known] : option_choices<initializer>::all)
    if (known.what == value.what)
      return std::string{name};
  return {};
}

// -- models ----------------------------------------------------------------------

#define TROUPE_FIELD(owner, field, ...) \
  option_field { #field, &owner::field, __VA_ARGS__ }
#define TROUPE_CLASSIFIER(owner)                                                                                  \
  TROUPE_FIELD(owner, classes, "how many classes there are; as many as the vocabulary has words",                 \
               field_range::at_least(2)),                                                                         \
      TROUPE_FIELD(owner, vocabulary, "what they are called, as [\"shirt\", \"bag\"]: predicted as \"classes\""), \
      TROUPE_FIELD(owner, label_smoothing, "share of each label that is given to all classes alike",              \
                   field_range::between(0, 1)),                                                                   \
      TROUPE_FIELD(owner, confusion_matrix,                                                                       \
                   "evaluations count the examples of each class by the class that is predicted")

#define TROUPE_HIDDEN(owner)                                                                                \
  TROUPE_FIELD(owner, hidden_units, "units of each hidden layer, as [256, 128]", field_range::at_least(1)), \
      TROUPE_FIELD(owner, activation, "after every hidden layer"),                                          \
      TROUPE_FIELD(owner, dropout, "share of units dropped while training", field_range::fraction()),       \
      TROUPE_FIELD(owner, batch_norm, "normalise after every hidden layer")
#define TROUPE_INPUT_SHAPE(owner)                                                                            \
  TROUPE_FIELD(owner, input_shape, "the shape of an example, as [28, 28, 1]; that of the data unless given", \
               field_range::at_least(1))

template <>
struct option_fields<dnn_classifier_options> {
  static constexpr std::string_view name = "dnn_classifier";
  static constexpr std::tuple all{TROUPE_CLASSIFIER(dnn_classifier_options), TROUPE_HIDDEN(dnn_classifier_options)};
};
template <>
struct option_fields<sequential_classifier_options> {
  static constexpr std::string_view name = "sequential_classifier";
  static constexpr std::tuple all{TROUPE_CLASSIFIER(sequential_classifier_options),
                                  TROUPE_INPUT_SHAPE(sequential_classifier_options)};
};
template <>
struct option_fields<dnn_model_options> {
  static constexpr std::string_view name = "dnn_model";
  static constexpr std::tuple all{TROUPE_HIDDEN(dnn_model_options)};
};
template <>
struct option_fields<linear_model_options> {
  static constexpr std::string_view name = "linear_model";
  static constexpr std::tuple<> all{};
};
template <>
struct option_fields<dnn_linear_combined_model_options> {
  static constexpr std::string_view name = "dnn_linear_combined_model";
  static constexpr std::tuple all{
      TROUPE_HIDDEN(dnn_linear_combined_model_options),
      TROUPE_FIELD(dnn_linear_combined_model_options, dnn_features, "features of the dense layers; all unless given"),
      TROUPE_FIELD(dnn_linear_combined_model_options, linear_features,
                   "features of the linear part; all unless given")};
};
template <>
struct option_fields<baseline_model_options> {
  static constexpr std::string_view name = "baseline_model";
  static constexpr std::tuple<> all{};
};
template <>
struct option_fields<sequential_model_options> {
  static constexpr std::string_view name = "sequential_model";
  static constexpr std::tuple all{TROUPE_INPUT_SHAPE(sequential_model_options)};
};
#undef TROUPE_INPUT_SHAPE
#undef TROUPE_HIDDEN
#undef TROUPE_CLASSIFIER
#undef TROUPE_FIELD

// -- layers ----------------------------------------------------------------------
// A field whose default lies outside of its range is required.

#define TROUPE_FIELD(field, ...) \
  option_field { #field, &options::field, __VA_ARGS__ }
#define TROUPE_FILTERS TROUPE_FIELD(filters, "outputs at each place", field_range::at_least(1))
#define TROUPE_WINDOW                                                                                         \
  TROUPE_FIELD(kernel_size, "height and width, as 3 or [3, 5]", field_range::at_least(1)), TROUPE_STRIDES(1), \
      TROUPE_PADDING
#define TROUPE_STRIDES(least) \
  TROUPE_FIELD(strides, "from window to window; 0 in a pool: size", field_range::at_least(least))
#define TROUPE_PADDING TROUPE_FIELD(padding, "windows inside of the image only (valid), or same")
#define TROUPE_DILATION TROUPE_FIELD(dilation, "distance between the elements of a kernel", field_range::at_least(1))
#define TROUPE_MULTIPLIER TROUPE_FIELD(depth_multiplier, "outputs of a channel", field_range::at_least(1))
#define TROUPE_NAME TROUPE_FIELD(name, "what its variables are called; its type unless given")
#define TROUPE_OUTPUT                                                                     \
  TROUPE_FIELD(activation, "of its outputs"), TROUPE_FIELD(bias, "add a trained offset"), \
      option_field{"kernel_initializer", &options::kernel, "initial values of the kernel"}, TROUPE_NAME
#define TROUPE_POOL \
  TROUPE_FIELD(size, "height and width of a window", field_range::at_least(1)), TROUPE_STRIDES(0), TROUPE_PADDING
#define TROUPE_NORM                                                                                                  \
  TROUPE_FIELD(epsilon, "added to the variance", field_range::at_least(0)), TROUPE_FIELD(gamma, "a trained factor"), \
      TROUPE_FIELD(beta, "a trained offset"), TROUPE_NAME

template <>
struct option_fields<layer::conv2d> {
  using options = layer::conv2d;
  static constexpr std::tuple all{
      TROUPE_FILTERS, TROUPE_WINDOW, TROUPE_DILATION,
      TROUPE_FIELD(groups, "group g of the filters sees group g of the channels only", field_range::at_least(1)),
      TROUPE_OUTPUT};
};
template <>
struct option_fields<layer::conv2d_transpose> {
  using options = layer::conv2d_transpose;
  static constexpr std::tuple all{TROUPE_FILTERS, TROUPE_WINDOW, TROUPE_OUTPUT};
};
template <>
struct option_fields<layer::depthwise_conv2d> {
  using options = layer::depthwise_conv2d;
  static constexpr std::tuple all{TROUPE_WINDOW, TROUPE_DILATION, TROUPE_MULTIPLIER, TROUPE_OUTPUT};
};
template <>
struct option_fields<layer::separable_conv2d> {
  using options = layer::separable_conv2d;
  static constexpr std::tuple all{TROUPE_FILTERS, TROUPE_WINDOW, TROUPE_DILATION, TROUPE_MULTIPLIER, TROUPE_OUTPUT};
};
template <>
struct option_fields<layer::max_pool> {
  using options = layer::max_pool;
  static constexpr std::tuple all{TROUPE_POOL};
};
template <>
struct option_fields<layer::average_pool> {
  using options = layer::average_pool;
  static constexpr std::tuple all{TROUPE_POOL};
};
template <>
struct option_fields<layer::global_max_pool> {
  static constexpr std::tuple<> all{};
};
template <>
struct option_fields<layer::global_average_pool> {
  static constexpr std::tuple<> all{};
};
template <>
struct option_fields<layer::flatten> {
  static constexpr std::tuple<> all{};
};
template <>
struct option_fields<layer::dense> {
  using options = layer::dense;
  static constexpr std::tuple all{TROUPE_FIELD(units, "outputs", field_range::at_least(1)), TROUPE_OUTPUT};
};
template <>
struct option_fields<layer::dropout> {
  using options = layer::dropout;
  static constexpr std::tuple all{
      TROUPE_FIELD(rate, "share of elements dropped while training", field_range::fraction())};
};
template <>
struct option_fields<layer::batch_norm> {
  using options = layer::batch_norm;
  static constexpr std::tuple all{
      TROUPE_FIELD(momentum, "the share of the moving statistics that a step keeps", field_range::fraction()),
      TROUPE_NORM};
};
template <>
struct option_fields<layer::layer_norm> {
  using options = layer::layer_norm;
  static constexpr std::tuple all{TROUPE_FIELD(axes, "how many of the last axes", field_range::between(1, 8)),
                                  TROUPE_NORM};
};
template <>
struct option_fields<layer::activation> {
  using options = layer::activation;
  static constexpr std::tuple all{option_field{"activation", &options::function, "of its outputs"}};
};

#undef TROUPE_FIELD
#undef TROUPE_FILTERS
#undef TROUPE_WINDOW
#undef TROUPE_STRIDES
#undef TROUPE_PADDING
#undef TROUPE_DILATION
#undef TROUPE_MULTIPLIER
#undef TROUPE_NAME
#undef TROUPE_OUTPUT
#undef TROUPE_POOL
#undef TROUPE_NORM

}  // namespace troupe
