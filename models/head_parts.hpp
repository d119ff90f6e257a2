// Building blocks of heads: checked options, labels and weights of examples, reduced losses, and the metrics that several heads have.
#pragma once

#include <troupe/options/head_fields.hpp>
#include <troupe/metrics.hpp>

namespace troupe {

// -- options ---------------------------------------------------------------------

/// What a head says of options that cannot be right: "binary_head: thresholds[1] must be in [0, 1], not 1.5".
error wrong_option(std::string_view head, std::string_view what);

/// A head of these options: `logits` of each example, built by `build`; wrong where a field is outside of its range, or by `more`.
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
  made.build = [o = std::move(options), build](graph& g, const head_spec_options& given, std::source_location at) { return build(o, g, given, at); };
  return made;
}

/// The number of classes: that of the vocabulary's words where it is 0 and there are words.
int64_t classes_of(int64_t classes, const std::vector<std::string>& vocabulary);
/// What is wrong with the classes of a head: a vocabulary of another size or with a word twice, class weights of another number or all 0.
std::optional<error> check_classes(std::string_view head, int64_t classes, const std::vector<std::string>& vocabulary,
                                   const std::vector<double>& class_weights);
/// A confusion matrix that is wanted has no more elements than a metric may have.
std::optional<error> check_confusion_matrix(std::string_view head, bool wanted, int64_t classes);
std::optional<error> check_reduction(std::string_view head, losses::reduction reduce);
/// `field` of a head, such as its thresholds, has at most `listed_max` numbers, and none twice.
std::optional<error> check_once(std::string_view head, std::string_view field, const std::vector<double>& numbers);
/// The first error there is.
std::optional<error> first_of(std::initializer_list<std::optional<error>> errors);

// -- labels and weights ------------------------------------------------------------

/// Labels as numbers of the logits' dtype and shape: of that shape, or [batch] where an example has one logit. One outside of [least,
/// greatest], and one that is not finite, is an error of the step. Invalid where they do not fit, with an error of the graph.
symbol labels_like_logits(graph& g, std::string_view head, const head_spec_options& o, double least, double greatest, std::source_location at);

/// The weights of the examples: [batch, 1], of the logits' dtype; none (a symbol without a graph) where there is no weight feature. Invalid
/// where the feature is missing or of another shape, with an error of the graph.
symbol weights_of_examples(graph& g, std::string_view head, const std::string& feature, const head_spec_options& o, std::source_location at);

/// a · b where both are there, else the one that is.
symbol times(symbol a, symbol b, std::source_location at);
/// The values as a row [1, n] of x's dtype.
symbol row_like(symbol x, const std::vector<double>& values, std::source_location at);

/// The loss of a batch.
symbol reduced(symbol each, symbol weights, losses::reduction reduce, std::source_location at);

// -- export outputs --------------------------------------------------------------

using export_outputs = std::map<std::string, std::map<std::string, symbol>>;

/// A head's own, and all of its predictions as "serving_default" and as "predict": without tensors, so that predictions which a model adds to those
/// of its head are offered too.
export_outputs with_predictions(export_outputs own);

// -- metrics ---------------------------------------------------------------------

/// For each threshold, accuracy/positive_threshold_0.7 (probabilities of at least the threshold are positive) and precision/... and
/// recall/... (those above it): the two rules are TensorFlow's.
void add_threshold_metrics(std::map<std::string, metric>& to, const std::vector<double>& thresholds, symbol labels, symbol probabilities, symbol weights,
                           std::source_location at);
/// auc and auc_precision_recall, with `suffix` after each name.
void add_curves(std::map<std::string, metric>& to, const std::string& suffix, symbol labels, symbol probabilities, symbol weights, std::source_location at);

}  // namespace troupe
