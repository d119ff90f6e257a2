// Ready-made models: dense, linear, both side by side, and a baseline that sees no features. Each takes any head.
// Read it to begin with.
//
//   auto model = tr::dnn_model({.hidden_units = {64, 32}, .head = tr::multi_label_head{.classes = 5}});
//
// Models from a list of layers are in sequential.hpp. Features must be float32 and are flattened; a head's weight
// feature (heads.hpp) is no input. Errors are reported when the model is built, naming model, field, value and the line
// of the call: invalid_argument for options, type for a feature of another dtype. A model owns copies of its options.
#pragma once

#include <troupe/heads.hpp>

namespace troupe {

struct dnn_model_options {
  std::vector<int64_t> hidden_units = {};  ///< Units of each hidden layer, at least 1; at most 5000 layers.
  troupe::head head = {};                  ///< Required.
  troupe::optimizer optimizer = adam{};    ///< The Estimator's is Adagrad with a rate of 0.05.
  troupe::activation activation = relu;    ///< Of the hidden layers; null: none.
  double dropout = 0;                      ///< Dropout rate after every hidden layer while training, in [0, 1).
  bool batch_norm = false;                 ///< After the dropout; momentum 0.999: dnn/hiddenlayer_<i>/batchnorm_<i>/...
};
/// Dense layers over all features, concatenated in the order of their names. Variables have the Estimator's names:
/// dnn/hiddenlayer_<i>/{kernel,bias}, dnn/logits/{kernel,bias}.
TROUPE_API model dnn_model(dnn_model_options options, TROUPE_AT);

struct linear_model_options {
  troupe::head head = {};                ///< Required.
  troupe::optimizer optimizer = adam{};  ///< The Estimator's is FTRL with a rate of min(0.2, 1/√features).
};
/// The sum over features of x · weights, plus a bias; both start at 0. Variables have the Estimator's names:
/// linear/linear_model/<feature>/weights [n, logits] and linear/linear_model/bias_weights [logits].
TROUPE_API model linear_model(linear_model_options options, TROUPE_AT);

struct dnn_linear_combined_model_options {
  std::vector<int64_t> hidden_units = {};  ///< As in dnn_model, like all fields without a comment.
  troupe::head head = {};
  /// Its rule updates the dense layers; its other fields are for both parts. Rates as the Estimator's combined models.
  troupe::optimizer optimizer = adagrad{.rate = 0.001f};
  /// Updates the linear part, unless a variable group of `optimizer` does. Absent: FTRL, rate min(0.005, 1/√features).
  std::optional<update_rule> linear_rule = {};
  troupe::activation activation = relu;
  double dropout = 0;
  bool batch_norm = false;
  std::vector<std::string> dnn_features = {};     ///< Inputs of the dense layers; empty: all features.
  std::vector<std::string> linear_features = {};  ///< Inputs of the linear part; empty: all features.
};
/// Adds the logits of a dnn_model and a linear_model, with the variables of both. Cheng et al. 2016, "Wide & Deep".
TROUPE_API model dnn_linear_combined_model(dnn_linear_combined_model_options options, TROUPE_AT);

struct baseline_model_options {
  troupe::head head = {};
  troupe::optimizer optimizer = ftrl{.rate = 0.3f};
};
/// The same logits for every example, the variable `baseline/bias` [logits], which starts at 0: it learns how frequent
/// the labels are, and is the result that other models should exceed. It takes features of any kind and ignores them.
TROUPE_API model baseline_model(baseline_model_options options, TROUPE_AT);

struct dnn_classifier_options {
  std::vector<int64_t> hidden_units = {};
  int64_t classes = 0;  ///< At least 2; 0 takes the size of `vocabulary`.
  troupe::optimizer optimizer = adam{};
  troupe::activation activation = relu;
  double dropout = 0;          ///< As in dnn_model.
  bool batch_norm = false;     ///< As in dnn_model.
  double label_smoothing = 0;  ///< As in multi_class_head, like `vocabulary` and `confusion_matrix`.
  std::vector<std::string> vocabulary = {};
  bool confusion_matrix = false;
};
/// A dnn_model with a multi_class_head, also for two classes.
TROUPE_API model dnn_classifier(dnn_classifier_options options, TROUPE_AT);

struct dnn_regressor_options {
  std::vector<int64_t> hidden_units = {};
  int64_t label_dimension = 1;  ///< Numbers in a label, at least 1.
  troupe::optimizer optimizer = adam{};
  troupe::activation activation = relu;
  double dropout = 0;       ///< As in dnn_model.
  bool batch_norm = false;  ///< As in dnn_model.
};
/// A dnn_model with a regression_head.
TROUPE_API model dnn_regressor(dnn_regressor_options options, TROUPE_AT);

struct linear_classifier_options {
  int64_t classes = 0;  ///< At least 2; 0 takes the size of `vocabulary`.
  troupe::optimizer optimizer = adam{};
  std::vector<std::string> vocabulary = {};  ///< As in multi_class_head, like `label_smoothing` and `confusion_matrix`.
  double label_smoothing = 0;
  bool confusion_matrix = false;
};
/// A linear_model with a multi_class_head, also for two classes.
TROUPE_API model linear_classifier(linear_classifier_options options, TROUPE_AT);

struct linear_regressor_options {
  int64_t label_dimension = 1;  ///< Numbers in a label, at least 1.
  troupe::optimizer optimizer = adam{};
};
/// A linear_model with a regression_head.
TROUPE_API model linear_regressor(linear_regressor_options options, TROUPE_AT);

}  // namespace troupe
