// Models: a function that describes the computation for one mode, and what it returns.
//
//   tr::model_spec mlp(tr::graph& g, const tr::features& x, const tr::labels& y, tr::mode mode) {
//     auto h = tr::nn::dense(x["pixels"], {.units = 256, .activation = tr::relu});
//     auto logits = tr::nn::dense(h, {.units = 10});
//     return tr::multi_class_head(10).spec(g, {.mode = mode, .logits = logits, .labels = y.only(), .optimizer = tr::adam{}});
//   }
#pragma once

#include <troupe/nn.hpp>
#include <troupe/optimizer.hpp>

#include <concepts>
#include <map>

namespace troupe {

enum class mode : uint8_t { train, evaluate, predict };
TROUPE_API std::string_view to_string(mode m) noexcept;

/// The named inputs of one element, batched: every symbol has the unknown "batch" as its first extent.
class TROUPE_API named_symbols {
 public:
  named_symbols(graph* owner, std::map<std::string, symbol> values) : graph_(owner), values_(std::move(values)) {}

  /// A name, and the line it was written in: an operator has no other way to learn where it is used.
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
  symbol total;   ///< Scalar of one batch, such as the number of correct rows.
  symbol weight;  ///< Scalar of one batch, such as the number of rows.
};

/// What a model function returns (estimator.md 6.2). Fields that a mode does not need are ignored.
struct model_spec {
  troupe::mode mode = troupe::mode::train;
  symbol loss;                                    ///< Scalar or one element. Needed to train and to evaluate.
  std::optional<troupe::optimizer> optimizer;     ///< Needed to train.
  std::map<std::string, symbol> predictions;      ///< Needed to predict.
  std::map<std::string, ratio_metric> metrics;    ///< `loss` and `global_step` are reserved names.
};

using model_fn = std::function<model_spec(graph&, const features&, const labels&, troupe::mode)>;

/// A model: its function and what to call it. A value; the function may be called from any thread, once per mode.
struct model {
  std::string name = "model";
  model_fn build;
};

struct head_spec_options {
  troupe::mode mode = troupe::mode::train;
  symbol logits;
  symbol labels;  ///< Integer class of each row, [batch]; unused when predicting.
  troupe::optimizer optimizer = adam{};
};

/// Softmax over `classes`: loss is the mean cross-entropy over the batch; metrics `accuracy` and `average_loss`;
/// predictions `class` (int64 [batch]) and `probabilities` ([batch, classes]).
class TROUPE_API multi_class_head {
 public:
  explicit multi_class_head(int64_t classes) : classes_(classes) {}
  /// Logits of another shape than [batch, classes], or fewer than 2 classes, are an error of the graph. Labels may also be
  /// [batch, 1].
  model_spec spec(graph& g, const head_spec_options& options, TROUPE_AT) const;

 private:
  int64_t classes_;
};

struct dnn_classifier_options {
  std::vector<int64_t> hidden_units;
  int64_t classes = 0;
  troupe::optimizer optimizer = adam{};
  troupe::activation activation = relu;
  double dropout = 0;  ///< After every hidden layer, while training.
};
/// Dense layers over all features (float32, flattened and concatenated in name order; here exactly one feature), under
/// the Estimator's names: dnn/hiddenlayer_<i>/{kernel,bias}, dnn/logits/{kernel,bias}.
/// invalid_argument is kept for `train` to report: classes < 2, a layer < 1 unit, dropout outside [0, 1).
TROUPE_API model dnn_classifier(dnn_classifier_options options);

}  // namespace troupe
