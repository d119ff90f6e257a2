// The tables of the fields of heads (options/option_field.hpp).
// Not needed to begin with.
#pragma once

#include <troupe/heads.hpp>
#include <troupe/options/option_field.hpp>

namespace troupe {

/// The reductions that make one number of the losses of a batch.
template <>
struct option_choices<losses::reduction> {
  static constexpr std::pair<std::string_view, losses::reduction> all[] = {
      {"sum_over_batch_size", losses::reduction::sum_over_batch_size},
      {"mean", losses::reduction::mean},
      {"mean_nonzero", losses::reduction::mean_nonzero},
      {"sum", losses::reduction::sum}};
};

/// The purpose of a field, by its name, which is the same in all heads.
namespace head_purposes {
inline constexpr std::string_view
    class_metrics = "classes with metrics of their own, by number",
    class_weights = "a factor of the losses of each class, as [1, 2.5]",
    classes = "how many classes there are; as many as the vocabulary has words",
    confusion_matrix = "evaluations count the examples of each class by the class that is predicted",
    full_loss = "the loss has also the terms that only depend on the labels",
    label = "the label that it takes; the one of its name unless given", label_dimension = "numbers in a label",
    label_smoothing = "share of each label that is given to all classes alike",
    loss_reduction = "how the losses of a batch become one number",
    name = "what its predictions and metrics begin with",
    thresholds = "probabilities from which on a metric counts a prediction as positive, as [0.3, 0.7]",
    vocabulary = "what the classes are called, as [\"shirt\", \"bag\"]",
    weight = "the factor of its loss in the sum of all",
    weight_feature = "the feature that weighs examples; each counts 1 unless given";
}  // namespace head_purposes

#define TROUPE_FIELD(owner, field, range) \
  option_field { #field, &owner::field, head_purposes::field, field_range::range }
#define TROUPE_LOSS(owner) TROUPE_FIELD(owner, weight_feature, finite()), TROUPE_FIELD(owner, loss_reduction, finite())
#define TROUPE_CLASSES(owner)                                                                 \
  TROUPE_FIELD(owner, vocabulary, finite()), TROUPE_FIELD(owner, class_weights, at_least(0)), \
      TROUPE_FIELD(owner, label_smoothing, between(0, 1)), TROUPE_LOSS(owner)

template <>
struct option_fields<binary_head> {
  static constexpr std::string_view name = "binary_head";
  static constexpr std::tuple all{TROUPE_FIELD(binary_head, thresholds, between(0, 1)), TROUPE_CLASSES(binary_head),
                                  TROUPE_FIELD(binary_head, confusion_matrix, finite())};
};
template <>
struct option_fields<multi_class_head> {
  static constexpr std::string_view name = "multi_class_head";
  static constexpr std::tuple all{TROUPE_FIELD(multi_class_head, classes, at_least(2)),
                                  TROUPE_CLASSES(multi_class_head),
                                  TROUPE_FIELD(multi_class_head, confusion_matrix, finite())};
};
template <>
struct option_fields<multi_label_head> {
  static constexpr std::string_view name = "multi_label_head";
  static constexpr std::tuple all{
      TROUPE_FIELD(multi_label_head, classes, at_least(2)), TROUPE_FIELD(multi_label_head, thresholds, between(0, 1)),
      TROUPE_FIELD(multi_label_head, class_metrics, at_least(0)), TROUPE_CLASSES(multi_label_head)};
};
template <>
struct option_fields<regression_head> {
  static constexpr std::string_view name = "regression_head";
  static constexpr std::tuple all{TROUPE_FIELD(regression_head, label_dimension, at_least(1)),
                                  TROUPE_LOSS(regression_head)};
};
template <>
struct option_fields<poisson_head> {
  static constexpr std::string_view name = "poisson_head";
  static constexpr std::tuple all{TROUPE_FIELD(poisson_head, label_dimension, at_least(1)),
                                  TROUPE_FIELD(poisson_head, full_loss, finite()), TROUPE_LOSS(poisson_head)};
};
/// All fields except `head`.
template <>
struct option_fields<named_head> {
  static constexpr std::tuple all{TROUPE_FIELD(named_head, name, finite()),
                                  TROUPE_FIELD(named_head, weight, at_least(0)),
                                  TROUPE_FIELD(named_head, label, finite())};
};
/// No fields: `heads` has no row.
template <>
struct option_fields<multi_head> {
  static constexpr std::string_view name = "multi_head";
  static constexpr std::tuple<> all{};
};

#undef TROUPE_CLASSES
#undef TROUPE_LOSS
#undef TROUPE_FIELD

}  // namespace troupe
