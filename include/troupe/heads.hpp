// Heads turn logits into a loss, metrics and predictions. A head is a plain value for any ready-made model.
// Read it to begin with.
//
//   auto model = tr::dnn_model({.hidden_units = {64}, .head = tr::binary_head{.thresholds = {0.3, 0.7}}});
//
//   // In a model of your own:
//   return tr::multi_class_head{.classes = 10}.spec(g, {.mode = mode, .logits = logits, .labels = y});
//
// Formulas and names are those of TensorFlow 1.15's heads unless a head says otherwise; docs/heads.md has a table. All
// metrics are weighted by the weights of the examples, and are 0 if the weights of all data sum to 0.
//
// Invalid options, and logits or labels of another shape, are errors of the graph when a spec is built:
// invalid_argument naming head, field and value. A label or weight out of range is an error of the step, which names
// its place and value. Any thread may use a head.
#pragma once

#include <troupe/losses.hpp>
#include <troupe/model.hpp>

namespace troupe {

/// The labels of a head: a symbol, or all labels of the model function.
class TROUPE_API head_labels {
 public:
  head_labels() = default;
  head_labels(symbol s) : value_(s) {}  // NOLINT(google-explicit-constructor): `.labels = y` should read so.
  head_labels(troupe::labels all) : value_(std::move(all)) {}  // NOLINT(google-explicit-constructor)
  /// The symbol, or the only label. None or several are an error of the graph (`named_symbols::only`).
  symbol get(TROUPE_AT) const;
  /// The label of that name. A missing one, or a symbol, which has no name, is an error of the graph `g`.
  symbol get(graph& g, std::string_view name, TROUPE_AT) const;

 private:
  std::variant<symbol, troupe::labels> value_;
};

struct head_spec_options {
  troupe::mode mode = troupe::mode::train;
  symbol logits = {};                             ///< Floating [batch, n]; the head says how many.
  head_labels labels = {};                        ///< The head says which; ignored when predicting.
  std::optional<troupe::features> features = {};  ///< Required by a `weight_feature`; ignored when predicting.
  troupe::optimizer optimizer = adam{};           ///< Becomes the spec's.
};

/// One of the heads of a multi_head.
struct head_part {
  std::string name = {};
  int64_t logits = 0;
};

/// Any head: made from one of the structs below, or your own, made by setting `name`, `logits` and `build`.
struct TROUPE_API head {
  using function = std::function<model_spec(graph& g, const head_spec_options& options, std::source_location at)>;

  head() = default;
  /// For `head{binary_head{...}}`; otherwise such a struct converts implicitly.
  template <class Options>
  requires requires(const Options& o) {
    { o.operator head() } -> std::same_as<head>;
  }
  explicit head(const Options& options) : head(options.operator head()) {}

  std::string name = {};  ///< For errors: "binary_head".
  int64_t logits = 0;     ///< Number of logits of an example, at least 1.
  function build = {};
  std::map<std::string, text_prediction> texts = {};  ///< For `model::texts`.
  std::vector<std::string> weight_features = {};      ///< Weigh the examples, so ready-made models do not read them.
  bool all_labels = false;                            ///< Takes the labels of the model by name, as multi_head does.
  /// The heads side by side in this one, in the order of their logits; empty for all but a multi_head.
  std::vector<head_part> parts = {};
  std::optional<error> wrong = {};  ///< Why it cannot be used: an invalid option.

  /// Calls `build`. Errors of the graph: `wrong` is set, `build` is missing, or the logits are not [batch, logits].
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const;
};

// Fields that several heads have:
//   vocabulary       The classes as words, in order, for the prediction "classes". vocabulary.hpp maps words to labels.
//   weight_feature   The feature with the weights of examples, [batch] or [batch, 1], at least 0. Empty: all are 1.
//   class_weights    Factors of the weights by class, only in `loss` and `average_loss`. Empty: 1. Keras' class_weight.
//   label_smoothing  As in losses.hpp.
//   confusion_matrix Adds the array metric `confusion_matrix` to evaluations: [i, j] is the weight of the examples of
//                    class i that were predicted as class j. For at most 2048 classes.
//   loss_reduction   How the weighted losses of a batch become `loss`; not `none`. Each gradient shard of a batch is
//                    reduced by itself, and `loss` is the mean over shards.
// NOLINTBEGIN(google-explicit-constructor): a struct of options is a head.

/// Two classes from one logit: sigmoid cross-entropy. Labels [batch] or [batch, 1], any number in [0, 1]. Predictions
/// `logits` and `logistic` [batch, 1], `probabilities` [batch, 2], `class_ids` int64 [batch] (1 if the logit is above
/// 0). Metrics accuracy, accuracy_baseline, auc, auc_precision_recall, average_loss, label/mean, prediction/mean,
/// precision, recall, and for each threshold accuracy/positive_threshold_0.7, precision/..., recall/... Precision,
/// recall and the confusion matrix count every label except 0 as 1.
struct TROUPE_API binary_head {
  std::vector<double> thresholds = {};       ///< For metrics. In [0, 1], each once; at most 5000.
  std::vector<std::string> vocabulary = {};  ///< Two words.
  std::string weight_feature = {};
  std::vector<double> class_weights = {};  ///< Of class 0 and class 1.
  double label_smoothing = 0;
  losses::reduction loss_reduction = losses::reduction::sum_over_batch_size;
  bool confusion_matrix = false;

  operator head() const;
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const {
    return static_cast<head>(*this).spec(g, options, at);
  }
};

/// Exactly one of several classes: softmax cross-entropy. Labels int32, int64 or uint8 [batch] or [batch, 1] in [0,
/// classes). Predictions `logits` and `probabilities` [batch, classes], `class_ids` int64 [batch]. Metrics accuracy and
/// average_loss.
struct TROUPE_API multi_class_head {
  int64_t classes = 0;  ///< At least 2; 0 takes the size of `vocabulary`.
  std::vector<std::string> vocabulary = {};
  std::string weight_feature = {};
  std::vector<double> class_weights = {};
  double label_smoothing = 0;
  losses::reduction loss_reduction = losses::reduction::sum_over_batch_size;
  bool confusion_matrix = false;

  operator head() const;
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const {
    return static_cast<head>(*this).spec(g, options, at);
  }
};

/// Any number of several classes: the mean over classes of their sigmoid cross-entropies. Labels [batch, classes], any
/// number in [0, 1]. Predictions `logits` and `probabilities` [batch, classes]. Metrics auc, auc_precision_recall and
/// average_loss over all classes together, those of thresholds as in binary_head, and for each class in `class_metrics`
/// probability_mean/class3, auc/class3 and auc_precision_recall/class3, with the class's word, if any, for "class3".
struct TROUPE_API multi_label_head {
  int64_t classes = 0;                       ///< At least 2; 0 takes the size of `vocabulary`.
  std::vector<std::string> vocabulary = {};  ///< Only for the names of metrics.
  std::vector<double> thresholds = {};       ///< For metrics. In [0, 1], each once; at most 5000.
  std::vector<int64_t> class_metrics = {};   ///< Classes with own metrics: in [0, classes), each once; at most 5000.
  std::string weight_feature = {};
  std::vector<double> class_weights = {};
  double label_smoothing = 0;
  losses::reduction loss_reduction = losses::reduction::sum_over_batch_size;

  operator head() const;
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const {
    return static_cast<head>(*this).spec(g, options, at);
  }
};

/// Numbers: squared error. Labels [batch, label_dimension], or [batch] if the dimension is 1, of any numeric dtype.
/// Prediction `predictions` [batch, label_dimension]. Metrics average_loss, label/mean, prediction/mean of all numbers.
struct TROUPE_API regression_head {
  int64_t label_dimension = 1;  ///< Numbers in a label, at least 1.
  std::string weight_feature = {};
  losses::reduction loss_reduction = losses::reduction::sum_over_batch_size;

  operator head() const;
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const {
    return static_cast<head>(*this).spec(g, options, at);
  }
};

/// Counts: the negative log-likelihood of a Poisson distribution with mean e^x for the logit x: e^x - y·x, plus, with
/// `full_loss`, y·log y - y + log(2πy)/2 where y > 1 (Stirling). Otherwise like regression_head, but labels are at
/// least 0, `predictions` is e^logits, and there is a prediction `logits`.
struct TROUPE_API poisson_head {
  int64_t label_dimension = 1;
  std::string weight_feature = {};
  bool full_loss = true;  ///< Adds the terms that do not depend on the logits.
  losses::reduction loss_reduction = losses::reduction::sum_over_batch_size;

  operator head() const;
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const {
    return static_cast<head>(*this).spec(g, options, at);
  }
};

/// The most hidden layers, layers of a list, heads of a multi_head, and thresholds and class_metrics of a head: each
/// takes memory and planning time.
inline constexpr size_t listed_max = 5000;

struct named_head {
  std::string name = {};  ///< Not empty, unique, and without a slash.
  troupe::head head = {};
  double weight = 1;       ///< Factor of its loss in the sum; at least 0.
  std::string label = {};  ///< The label that it takes; empty: the one called `name`. A multi_head takes its own.
};
/// Several heads over one model. The logits of all heads are side by side, in order. The loss is Σ weight · loss. A
/// head's predictions and metrics are `<name>/<prediction>` and `<name>/<metric>`; metric `loss/<name>` is its mean
/// loss.
struct TROUPE_API multi_head {
  std::vector<named_head> heads = {};  ///< At least one, at most 5000.

  operator head() const;
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const {
    return static_cast<head>(*this).spec(g, options, at);
  }
};

// NOLINTEND(google-explicit-constructor)

}  // namespace troupe
