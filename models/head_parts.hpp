// Building blocks of heads: checked options, labels and weights of examples, reduced losses, and the metrics that
// several heads have.
#pragma once

#include <troupe/metrics.hpp>
#include <troupe/options/head_fields.hpp>

namespace troupe {

// -- options ---------------------------------------------------------------------

/// The error of a head for an invalid option: "binary_head: thresholds[1] must be in [0, 1], not 1.5".
error wrong_option(std::string_view head, std::string_view what);

/// Makes a head of `options` with `logits` logits for each example, built by `build`. It is `wrong` if `more` is an
/// error or if a field is outside of its range.
template <class Options, class Build>
head made_head(Options options, int64_t logits, std::optional<error> more, Build build) {
  head made;
  made.name = name_of(options);
  made.logits = logits;
  made.wrong = std::move(more);
  if (!made.wrong)
    if (auto right = check_fields(options); !right)
      made.wrong = wrong_option(made.name, right.error().message);
  if constexpr (requires { options.weight_feature; })
    if (!options.weight_feature.empty())
      made.weight_features = {options.weight_feature};
  made.build = [o = std::move(options), build](graph& g, const head_spec_options& given, std::source_location at) {
    model_spec spec = build(o, g, given, at);
    if (given.mode == mode::train && spec.predictions.empty() && given.logits.valid())
      spec.predictions = {{"logits", given.logits}};  // For searches over ordinary models; it costs no operation.
    return spec;
  };
  return made;
}

/// `classes`; if that is 0, the number of words of the vocabulary.
int64_t classes_of(int64_t classes, const std::vector<std::string>& vocabulary);
/// Checks the classes of a head. Errors: a vocabulary of another size or with a duplicate word, and class weights that
/// are of another number or all 0.
std::optional<error> check_classes(std::string_view head, int64_t classes, const std::vector<std::string>& vocabulary,
                                   const std::vector<double>& class_weights);
/// Checks that a confusion matrix, if it is wanted, has no more elements than a metric may have.
std::optional<error> check_confusion_matrix(std::string_view head, bool wanted, int64_t classes);
std::optional<error> check_reduction(std::string_view head, losses::reduction reduce);
/// Checks that `field`, such as a head's thresholds, has at most `listed_max` numbers and no duplicates.
std::optional<error> check_once(std::string_view head, std::string_view field, const std::vector<double>& numbers);
/// The first error of the list, if there is one.
std::optional<error> first_of(std::initializer_list<std::optional<error>> errors);

// -- labels and weights ------------------------------------------------------------

/// The labels in the logits' dtype and shape. They must have that shape, or [batch] if an example has one logit; if
/// not, the result is invalid and the graph keeps an error. A label that is not finite or is outside of [least,
/// greatest] fails the step.
symbol labels_like_logits(graph& g, std::string_view head, const head_spec_options& o, double least, double greatest,
                          std::source_location at);

/// The weights of the examples: [batch, 1], of the logits' dtype; a symbol without a graph if there is no weight
/// feature. If the feature is missing or of another shape, the result is invalid and the graph keeps an error.
symbol weights_of_examples(graph& g, std::string_view head, const std::string& feature, const head_spec_options& o,
                           std::source_location at);

/// a · b; if only one is given, that one.
symbol times(symbol a, symbol b, std::source_location at);
/// The values as a row [1, n] of x's dtype.
symbol row_like(symbol x, const std::vector<double>& values, std::source_location at);

/// The loss of a batch: the weighted losses `each` of its examples, reduced to one number.
symbol reduced(symbol each, symbol weights, losses::reduction reduce, std::source_location at);

// -- export outputs --------------------------------------------------------------

using export_outputs = std::map<std::string, std::map<std::string, symbol>>;

/// A head's own outputs, with "serving_default" and "predict" for all of its predictions. These two are without
/// tensors, so that predictions that a model adds to those of its head are offered too.
export_outputs with_predictions(export_outputs own);

// -- metrics ---------------------------------------------------------------------

/// Adds for each threshold, such as 0.7: accuracy/positive_threshold_0.7, where probabilities of at least the threshold
/// are positive, and precision/... and recall/..., where those above it are. Both rules are TensorFlow's.
void add_threshold_metrics(std::map<std::string, metric>& to, const std::vector<double>& thresholds, symbol labels,
                           symbol probabilities, symbol weights, std::source_location at);
/// Adds auc and auc_precision_recall, with `suffix` after each name.
void add_curves(std::map<std::string, metric>& to, const std::string& suffix, symbol labels, symbol probabilities,
                symbol weights, std::source_location at);

}  // namespace troupe
