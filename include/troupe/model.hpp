// Models: a function that describes the computation for one mode, and what it returns.
//
//   tr::model_spec mlp(tr::graph& g, const tr::features& x, const tr::labels& y, tr::mode mode) {
//     auto h = tr::nn::dense(x["pixels"], {.units = 256, .activation = tr::relu});
//     auto logits = tr::nn::dense(h, {.units = 10});
//     return tr::multi_class_head(10).spec(g, {.mode = mode, .logits = logits, .labels = y, .optimizer = tr::adam{}});
//   }
#pragma once

#include <troupe/nn.hpp>
#include <troupe/optimizer.hpp>

#include <concepts>
#include <map>
#include <variant>

namespace troupe {

enum class mode : uint8_t { train, evaluate, predict };
TROUPE_API std::string_view to_string(mode m) noexcept;

/// The named inputs of one element, batched: every symbol has the unknown "batch" as its first extent.
class TROUPE_API named_symbols {
 public:
  named_symbols(graph* owner, std::map<std::string, symbol> values) : graph_(owner), values_(std::move(values)) {}

  /// A name with the source line of its use, which an operator has no other way to learn.
  struct key {
    template <class Text>
      requires std::convertible_to<const Text&, std::string_view>
    key(const Text& text, std::source_location where = std::source_location::current()) : name(text), at(where) {}  // NOLINT(google-explicit-constructor)
    std::string_view name;
    std::source_location at;
  };
  /// A missing name is an error of the graph (key_missing, with the names there are) and an invalid symbol.
  symbol operator[](key k) const;
  /// The only symbol there is; an error of the graph (invalid_argument, with the names) when there are none or several.
  symbol only(TROUPE_AT) const;
  const std::map<std::string, symbol>& all() const noexcept { return values_; }
  bool empty() const noexcept { return values_.empty(); }

 private:
  graph* graph_;
  std::map<std::string, symbol> values_;
};
using features = named_symbols;
using labels = named_symbols;

/// A metric that is a ratio of sums over all examples: Σ total / Σ weight, each added up in float64.
struct ratio_metric {
  symbol total = {};   ///< Scalar of one batch, such as the number of correct rows.
  symbol weight = {};  ///< Scalar of one batch, such as the number of rows.
};

/// The result of a model function. Fields that a mode does not need are ignored and may be left out. A field that is missing
/// or wrong is an error of the graph that points to the line of the braces.
struct model_spec {
  std::optional<troupe::mode> mode = {};               ///< The mode that it was made for; if given, it is checked.
  symbol loss = {};                                    ///< Scalar or one element. Needed to train and to evaluate.
  std::optional<troupe::optimizer> optimizer = {};     ///< Needed to train; other modes read only its moving_average.
  std::map<std::string, symbol> predictions = {};      ///< Needed to predict.
  std::map<std::string, ratio_metric> metrics = {};    ///< `loss` and `global_step` are reserved names.
  /// What an export offers to callers: tensors by name, for each signature. One is also "serving_default", of several one must have that name;
  /// none: the predictions. Only looked at when predicting.
  std::map<std::string, std::map<std::string, symbol>> export_outputs = {};
  std::source_location at = std::source_location::current();  ///< Where it was made: braces know it, `model_spec s;` does not.
};

using model_fn = std::function<model_spec(graph&, const features&, const labels&, troupe::mode)>;

/// A prediction as words: word i of `words` wherever the integer prediction `of` is i.
struct text_prediction {
  std::string of = {};
  std::vector<std::string> words = {};
};

/// A model: its function and what to call it. A value; the function may be called from any thread, once per mode.
struct model {
  std::string name = "model";
  model_fn build = {};
  std::map<std::string, text_prediction> texts = {};  ///< By the name of the prediction.
  /// Where it was made: errors of a spec that does not know its own line point here.
  std::source_location at = std::source_location::current();
};

/// The labels of a head: a symbol, or the labels of the model function as they are, of which there must be one.
class TROUPE_API head_labels {
 public:
  head_labels() = default;
  head_labels(symbol s) : value_(s) {}                             // NOLINT(google-explicit-constructor): `.labels = y` should read so.
  head_labels(troupe::labels all) : value_(std::move(all)) {}      // NOLINT(google-explicit-constructor)
  /// The symbol; that there is none or several is an error of the graph (`named_symbols::only`).
  symbol get(TROUPE_AT) const;

 private:
  std::variant<symbol, troupe::labels> value_;
};

struct head_spec_options {
  troupe::mode mode = troupe::mode::train;
  symbol logits = {};
  head_labels labels = {};  ///< As the head specifies; not looked at when predicting, where a model has none.
  troupe::optimizer optimizer = adam{};
};

/// Softmax over `classes`; labels are the integer class of each row, [batch]. Loss is the mean cross-entropy over the
/// batch, with labels smoothed by `label_smoothing` (losses.hpp); metrics `accuracy` and `average_loss`; predictions
/// `class` (int64 [batch]) and `probabilities` ([batch, classes]).
class TROUPE_API multi_class_head {
 public:
  explicit multi_class_head(int64_t classes, double label_smoothing = 0) : classes_(classes), label_smoothing_(label_smoothing) {}
  /// Logits of another shape than [batch, classes], fewer than 2 classes, or a smoothing outside [0, 1], are an error
  /// of the graph. Labels may also be [batch, 1].
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const;

 private:
  int64_t classes_;
  double label_smoothing_;
};

/// Regression of [batch, label_dimension]; labels have that shape, or [batch] where the dimension is 1, and any numeric
/// dtype. One that is not finite is an error of the step.
/// Loss is the squared error, averaged over rows and dimensions; metrics `average_loss` (the same over all of the
/// data), `label/mean` and `prediction/mean`; predictions `predictions`.
class TROUPE_API regression_head {
 public:
  explicit regression_head(int64_t label_dimension = 1) : dimension_(label_dimension) {}
  /// Logits or labels of another shape, or a dimension below 1, are an error of the graph.
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const;

 private:
  int64_t dimension_;
};

// -- canned models ---------------------------------------------------------------
// Features are float32, each flattened. Invalid options and features are kept and reported when the model is built,
// naming model, field and value, and the line of the call: invalid_argument for options, type for a feature of another
// dtype.

struct dnn_classifier_options {
  std::vector<int64_t> hidden_units = {};
  int64_t classes = 0;            ///< At least 2; may be left 0 beside a vocabulary.
  troupe::optimizer optimizer = adam{};
  troupe::activation activation = relu;
  double dropout = 0;             ///< After every hidden layer, while training; in [0, 1).
  bool batch_norm = false;        ///< After the dropout; momentum 0.999: dnn/hiddenlayer_<i>/batchnorm_<i>/...
  double label_smoothing = 0;     ///< Label smoothing of the head, in [0, 1].
  /// Names of the classes, in their order; with them, "classes" is predicted too, as words. vocabulary.hpp turns labels
  /// that are words into numbers.
  std::vector<std::string> vocabulary = {};
};
/// Dense layers over all features side by side in the order of their names, under the Estimator's names:
/// dnn/hiddenlayer_<i>/{kernel,bias}, dnn/logits/{kernel,bias}; a multi_class_head.
TROUPE_API model dnn_classifier(dnn_classifier_options options, TROUPE_AT);

struct dnn_regressor_options {
  std::vector<int64_t> hidden_units = {};
  int64_t label_dimension = 1;
  troupe::optimizer optimizer = adam{};
  troupe::activation activation = relu;
  double dropout = 0;             ///< As above.
  bool batch_norm = false;        ///< As above.
};
/// The same layers under a regression_head.
TROUPE_API model dnn_regressor(dnn_regressor_options options, TROUPE_AT);

struct linear_classifier_options {
  int64_t classes = 0;
  troupe::optimizer optimizer = adam{};  ///< The Estimator's is FTRL.
  std::vector<std::string> vocabulary = {};
  double label_smoothing = 0;
};
/// The sum over features of x · weights, plus a bias, all of them 0 at first, under the Estimator's names:
/// linear/linear_model/<feature>/weights [n, classes] and linear/linear_model/bias_weights [classes]; a
/// multi_class_head.
TROUPE_API model linear_classifier(linear_classifier_options options, TROUPE_AT);

struct linear_regressor_options {
  int64_t label_dimension = 1;
  troupe::optimizer optimizer = adam{};  ///< The Estimator's is FTRL.
};
/// The same under a regression_head.
TROUPE_API model linear_regressor(linear_regressor_options options, TROUPE_AT);

}  // namespace troupe
