// Heads: what turns logits into a loss, metrics and predictions. A head is a value; every ready-made model takes any head.
// Read it to begin with.
//
//   auto model = tr::dnn_model({.hidden_units = {64}, .head = tr::binary_head{.thresholds = {0.3, 0.7}}});   // canned_models.hpp
//   return tr::multi_class_head{.classes = 10}.spec(g, {.mode = mode, .logits = logits, .labels = y});       // In a model of your own.
//
// Formulas and names are those of TensorFlow 1.15's heads unless a head says otherwise; docs/heads.md has a table. Predictions are called
// logits, probabilities, class_ids and classes (words, where there is a vocabulary), and logistic or predictions; metrics are called as
// below, all of them weighted by the weights of the examples. Where the weights of all data sum to 0, a metric is 0.
//
// Options that cannot be right are kept in the head and become errors of the graph when a spec is built: invalid_argument naming head,
// field and value. So do logits and labels of another shape. A label or weight outside of its range is an error of the step, which names
// its place and value. A head owns what it was given and refers to nothing; any thread may use it, one thread a graph at a time.
#pragma once

#include <troupe/losses.hpp>
#include <troupe/model.hpp>

namespace troupe {

/// The labels of a head: a symbol, or the labels of the model function as they are.
class TROUPE_API head_labels {
 public:
  head_labels() = default;
  head_labels(symbol s) : value_(s) {}                             // NOLINT(google-explicit-constructor): `.labels = y` should read so.
  head_labels(troupe::labels all) : value_(std::move(all)) {}      // NOLINT(google-explicit-constructor)
  /// The symbol, or the only label; that there is none or several is an error of the graph (`named_symbols::only`).
  symbol get(TROUPE_AT) const;
  /// The label of that name; that there is none is an error of the graph. `g` is the graph of a symbol, which has no name.
  symbol get(graph& g, std::string_view name, TROUPE_AT) const;

 private:
  std::variant<symbol, troupe::labels> value_;
};

struct head_spec_options {
  troupe::mode mode = troupe::mode::train;
  symbol logits = {};       ///< Floating [batch, n], n as the head says.
  head_labels labels = {};  ///< As the head says; not looked at when predicting, where a model has none.
  /// Needed by a head with a `weight_feature`; not looked at when predicting.
  std::optional<troupe::features> features = {};
  troupe::optimizer optimizer = adam{};
};

/// Any head. Made from one of the structs below, or by filling in the fields of an empty one.
struct TROUPE_API head {
  using function = std::function<model_spec(graph& g, const head_spec_options& options, std::source_location at)>;

  head() = default;
  /// For `head{binary_head{...}}`: elsewhere the struct converts itself.
  template <class Options>
    requires requires(const Options& o) { { o.operator head() } -> std::same_as<head>; }
  explicit head(const Options& options) : head(options.operator head()) {}

  std::string name = {};  ///< For errors: "binary_head".
  int64_t logits = 0;     ///< How many logits an example has, at least 1.
  function build = {};
  std::map<std::string, text_prediction> texts = {};   ///< For `model::texts`.
  std::vector<std::string> weight_features = {};       ///< Features that weigh examples, and are no input of a ready-made model.
  bool all_labels = false;                             ///< It takes the labels of the model function by their names, as multi_head does.
  std::optional<error> wrong = {};                     ///< Why it cannot be used.

  /// What `build` returns; an error of the graph where the head is wrong, has no function, or the logits are not [batch, logits].
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const;
};

// Fields that several heads have:
//   vocabulary      Names of the classes, in their order: "classes" is predicted too, as words. vocabulary.hpp turns labels that are words
//                   into numbers.
//   weight_feature  The feature that weighs the examples: [batch] or [batch, 1], any number but a negative one. Empty: each counts 1.
//   class_weights   A factor of the weight for each class, in `loss` and `average_loss` alone; empty: 1. tf.keras' class_weight.
//   label_smoothing As in losses.hpp.
//   confusion_matrix Evaluations have the metric `confusion_matrix` too, an array: [i, j] is the weight of the examples of class i that were
//                   predicted as class j. For at most 2048 classes.
//   loss_reduction  How the weighted losses of a batch become `loss`; not `none`. Each gradient shard reduces its own part of a batch, and
//                   the mean over shards counts.
// NOLINTBEGIN(google-explicit-constructor): a struct of options is a head.

/// Two classes from one logit: sigmoid cross-entropy. Labels [batch] or [batch, 1], any number in [0, 1]. Predictions `logits` and
/// `logistic` [batch, 1], `probabilities` [batch, 2], `class_ids` int64 [batch] (1 where the logit is above 0). Metrics accuracy,
/// accuracy_baseline, auc, auc_precision_recall, average_loss, label/mean, prediction/mean, precision, recall, and for each threshold
/// accuracy/positive_threshold_0.7, precision/..., recall/... A confusion matrix, like precision and recall, counts a label that is not 0 as 1.
struct TROUPE_API binary_head {
  std::vector<double> thresholds = {};       ///< In [0, 1], each once; at most 5000.
  std::vector<std::string> vocabulary = {};  ///< Two words.
  std::string weight_feature = {};
  std::vector<double> class_weights = {};    ///< Of 0 and of 1.
  double label_smoothing = 0;
  losses::reduction loss_reduction = losses::reduction::sum_over_batch_size;
  bool confusion_matrix = false;

  operator head() const;
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const { return static_cast<head>(*this).spec(g, options, at); }
};

/// Exactly one of several classes: softmax cross-entropy. Labels int32, int64 or uint8 [batch] or [batch, 1] in [0, classes). Predictions
/// `logits` and `probabilities` [batch, classes], `class_ids` int64 [batch]. Metrics accuracy and average_loss.
struct TROUPE_API multi_class_head {
  int64_t classes = 0;                       ///< At least 2; may be left 0 beside a vocabulary.
  std::vector<std::string> vocabulary = {};
  std::string weight_feature = {};
  std::vector<double> class_weights = {};
  double label_smoothing = 0;
  losses::reduction loss_reduction = losses::reduction::sum_over_batch_size;
  bool confusion_matrix = false;

  operator head() const;
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const { return static_cast<head>(*this).spec(g, options, at); }
};

/// Any number of several classes: the mean over classes of their sigmoid cross-entropies. Labels [batch, classes], any number in [0, 1].
/// Predictions `logits` and `probabilities` [batch, classes]. Metrics auc, auc_precision_recall and average_loss over all classes
/// together, those of thresholds as in binary_head, and for each class of `class_metrics` probability_mean/class3, auc/class3 and
/// auc_precision_recall/class3, with the word in place of "class3" where there is a vocabulary.
struct TROUPE_API multi_label_head {
  int64_t classes = 0;                       ///< At least 2; may be left 0 beside a vocabulary.
  std::vector<std::string> vocabulary = {};  ///< For the names of metrics alone.
  std::vector<double> thresholds = {};       ///< In [0, 1], each once; at most 5000.
  std::vector<int64_t> class_metrics = {};   ///< In [0, classes), each once; at most 5000.
  std::string weight_feature = {};
  std::vector<double> class_weights = {};
  double label_smoothing = 0;
  losses::reduction loss_reduction = losses::reduction::sum_over_batch_size;

  operator head() const;
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const { return static_cast<head>(*this).spec(g, options, at); }
};

/// Numbers: the squared error. Labels [batch, label_dimension], or [batch] where the dimension is 1, of any numeric dtype. Predictions
/// `predictions` [batch, label_dimension]. Metrics average_loss, label/mean and prediction/mean over all rows and dimensions.
struct TROUPE_API regression_head {
  int64_t label_dimension = 1;               ///< At least 1.
  std::string weight_feature = {};
  losses::reduction loss_reduction = losses::reduction::sum_over_batch_size;

  operator head() const;
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const { return static_cast<head>(*this).spec(g, options, at); }
};

/// Counts: the negative log-likelihood of a Poisson distribution whose mean is e^logit: e^x - y·x, and with `full_loss` also
/// y·log y - y + log(2πy)/2 where y > 1 (Stirling). As regression_head, but labels are at least 0, and there is a prediction `logits` beside
/// `predictions` = e^logits.
struct TROUPE_API poisson_head {
  int64_t label_dimension = 1;
  std::string weight_feature = {};
  bool full_loss = true;                     ///< With the terms that do not depend on the logits.
  losses::reduction loss_reduction = losses::reduction::sum_over_batch_size;

  operator head() const;
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const { return static_cast<head>(*this).spec(g, options, at); }
};

/// The most hidden layers, layers of a list, heads of a multi_head, and thresholds and class_metrics of a head: each takes memory, and time to
/// plan, whatever the data are.
inline constexpr size_t listed_max = 5000;

struct named_head {
  std::string name = {};     ///< Not empty, unique, and without a slash.
  troupe::head head = {};
  double weight = 1;         ///< Of its loss in the sum; at least 0.
  std::string label = {};    ///< The label that it takes; empty: the one of its name. A multi_head among the heads takes its own.
};
/// Several heads over one model. Logits are theirs side by side, in order. Loss is Σ weight · loss of the head; its predictions and metrics
/// are called `<name>/<prediction>` and `<name>/<metric>`, and the mean of its own losses over batches `loss/<name>`.
struct TROUPE_API multi_head {
  std::vector<named_head> heads = {};        ///< At least one, at most 5000.

  operator head() const;
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const { return static_cast<head>(*this).spec(g, options, at); }
};

// NOLINTEND(google-explicit-constructor)

}  // namespace troupe
