// Building blocks of the ready-made models, under the Estimator's variable names. Errors are kept in the graph, and
// name the model.
#pragma once

#include <troupe/heads.hpp>

namespace troupe {

// -- models ----------------------------------------------------------------------

/// What a model makes of its features: logits for its head, and the optimizer.
struct network {
  symbol logits;
  optimizer by;
};
using network_fn = std::function<network(graph& g, const features& x, int64_t logits, mode m)>;

/// A model that puts head `h` on the logits that `f` makes of the features, except those that weight examples. Errors
/// of the head name the model.
model headed_model(std::string name, head h, network_fn f, std::source_location at);

// -- layers ----------------------------------------------------------------------

struct dnn_layers {
  std::vector<int64_t> hidden_units;
  troupe::activation activation = nullptr;
  double dropout = 0;
  bool batch_norm = false;
};

/// All features, which must be float32. A single one with an axis beside the batch stays as it is; otherwise all are
/// flattened and concatenated in the order of their names.
symbol input_of(graph& g, const std::string& model, const features& x);
/// dnn/hiddenlayer_<i>/{kernel,bias} over all features, flattened and concatenated in the order of their names, then
/// dnn/logits/{kernel, bias}: [batch, units]. invalid_argument naming a field of the layers and its value.
symbol dnn_logits(graph& g, const std::string& model, const features& x, const dnn_layers& layers, int64_t units,
                  mode m);
/// The sum over features of x · linear/linear_model/<feature>/weights, plus linear/linear_model/bias_weights: [batch,
/// units]. Starts at 0, as the Estimator's model does.
symbol linear_logits(graph& g, const std::string& model, const features& x, int64_t units);

}  // namespace troupe
