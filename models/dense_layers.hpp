// Building blocks of the canned dense models, under the Estimator's variable names. Errors are kept in the graph, and
// name the model.
#pragma once

#include <troupe/model.hpp>

namespace troupe {

struct dnn_layers {
  std::vector<int64_t> hidden_units;
  troupe::activation activation = nullptr;
  double dropout = 0;
  bool batch_norm = false;
};
/// invalid_argument naming `model`, the field and its value.
expected<void> check_layers(const std::string& model, const dnn_layers& layers);

/// All features, which must be float32: a single one with an axis beside the batch as it is; else all flattened and
/// concatenated in the order of their names.
symbol input_of(graph& g, const std::string& model, const features& x);
/// dnn/hiddenlayer_<i>/{kernel,bias} over all features, flattened and concatenated in the order of their names, then
/// dnn/logits/{kernel, bias}: [batch, units].
symbol dnn_logits(graph& g, const std::string& model, const features& x, const dnn_layers& layers, int64_t units, mode m);
/// The sum over features of x · linear/linear_model/<feature>/weights, plus linear/linear_model/bias_weights: [batch,
/// units]. Starts at 0, as the Estimator's does.
symbol linear_logits(graph& g, const std::string& model, const features& x, int64_t units);

/// The number of classes: that of the vocabulary's words if there is a vocabulary. invalid_argument: fewer than 2, a
/// number other than the vocabulary's, a word given twice.
expected<int64_t> classes_of(const std::string& model, int64_t classes, const std::vector<std::string>& vocabulary);
/// The prediction "classes": the words of "class", where there is a vocabulary.
std::map<std::string, text_prediction> class_texts(const std::vector<std::string>& vocabulary);

/// Keeps the error in the graph; the returned spec is otherwise empty.
model_spec refused_spec(graph& g, error e, std::source_location at);

}  // namespace troupe
