// Ready-made models: dense and linear ones, both side by side, and one that only learns how frequent the labels are. Each takes any head.
// Read it to begin with.
//
//   auto model = tr::dnn_model({.hidden_units = {64, 32}, .head = tr::multi_label_head{.classes = 5}, .optimizer = tr::adam{.rate = 1e-3f}});
//
// Lists of layers are in sequential.hpp. Features are float32, each flattened; those that weigh examples (heads.hpp) are left out. Invalid
// options and features are kept and reported when the model is built, naming model, field and value, and the line of the call:
// invalid_argument for options, type for a feature of another dtype. A model owns what it was given.
#pragma once

#include <troupe/heads.hpp>

namespace troupe {

struct dnn_model_options {
  std::vector<int64_t> hidden_units = {};
  troupe::head head = {};
  troupe::optimizer optimizer = adam{};   ///< The Estimator's is Adagrad with a rate of 0.05.
  troupe::activation activation = relu;
  double dropout = 0;                     ///< After every hidden layer, while training; in [0, 1).
  bool batch_norm = false;                ///< After the dropout; momentum 0.999: dnn/hiddenlayer_<i>/batchnorm_<i>/...
};
/// Dense layers over all features side by side in the order of their names, under the Estimator's names:
/// dnn/hiddenlayer_<i>/{kernel,bias}, dnn/logits/{kernel,bias}.
TROUPE_API model dnn_model(dnn_model_options options, TROUPE_AT);

struct linear_model_options {
  troupe::head head = {};
  troupe::optimizer optimizer = adam{};   ///< The Estimator's is FTRL with a rate of min(0.2, 1/√features).
};
/// The sum over features of x · weights, plus a bias, all of them 0 at first, under the Estimator's names:
/// linear/linear_model/<feature>/weights [n, logits] and linear/linear_model/bias_weights [logits].
TROUPE_API model linear_model(linear_model_options options, TROUPE_AT);

struct dnn_linear_combined_model_options {
  std::vector<int64_t> hidden_units = {};
  troupe::head head = {};
  /// Its rule updates the dense layers; all else in it holds for both parts. The Estimator's combined models have these rates, far below
  /// those of its separate ones.
  troupe::optimizer optimizer = adagrad{.rate = 0.001f};
  /// Updates the linear part, unless a group of the optimizer gives it a rule; absent: FTRL with a rate of min(0.005, 1/√features).
  std::optional<update_rule> linear_rule = {};
  troupe::activation activation = relu;
  double dropout = 0;                     ///< As above.
  bool batch_norm = false;                ///< As above.
  std::vector<std::string> dnn_features = {};     ///< Of the dense layers; empty: all.
  std::vector<std::string> linear_features = {};  ///< Of the linear part; empty: all.
};
/// The sum of a dnn_model's logits and a linear_model's, under the names of both. Cheng et al. 2016, "Wide & Deep Learning".
TROUPE_API model dnn_linear_combined_model(dnn_linear_combined_model_options options, TROUPE_AT);

struct baseline_model_options {
  troupe::head head = {};
  troupe::optimizer optimizer = ftrl{.rate = 0.3f};
};
/// Logits that are the same for each example, `baseline/bias` [logits], 0 at first: what a model reaches that looks at no feature, of which
/// there may be any.
TROUPE_API model baseline_model(baseline_model_options options, TROUPE_AT);

// -- one head each ---------------------------------------------------------------

struct dnn_classifier_options {
  std::vector<int64_t> hidden_units = {};
  int64_t classes = 0;            ///< At least 2; may be left 0 beside a vocabulary.
  troupe::optimizer optimizer = adam{};
  troupe::activation activation = relu;
  double dropout = 0;             ///< As in dnn_model.
  bool batch_norm = false;        ///< As in dnn_model.
  double label_smoothing = 0;     ///< As in multi_class_head, as are the vocabulary and the confusion matrix.
  std::vector<std::string> vocabulary = {};
  bool confusion_matrix = false;
};
/// A dnn_model with a multi_class_head, also for two classes.
TROUPE_API model dnn_classifier(dnn_classifier_options options, TROUPE_AT);

struct dnn_regressor_options {
  std::vector<int64_t> hidden_units = {};
  int64_t label_dimension = 1;
  troupe::optimizer optimizer = adam{};
  troupe::activation activation = relu;
  double dropout = 0;             ///< As in dnn_model.
  bool batch_norm = false;        ///< As in dnn_model.
};
/// A dnn_model with a regression_head.
TROUPE_API model dnn_regressor(dnn_regressor_options options, TROUPE_AT);

struct linear_classifier_options {
  int64_t classes = 0;            ///< At least 2; may be left 0 beside a vocabulary.
  troupe::optimizer optimizer = adam{};
  std::vector<std::string> vocabulary = {};
  double label_smoothing = 0;
  bool confusion_matrix = false;
};
/// A linear_model with a multi_class_head, also for two classes.
TROUPE_API model linear_classifier(linear_classifier_options options, TROUPE_AT);

struct linear_regressor_options {
  int64_t label_dimension = 1;
  troupe::optimizer optimizer = adam{};
};
/// A linear_model with a regression_head.
TROUPE_API model linear_regressor(linear_regressor_options options, TROUPE_AT);

}  // namespace troupe
