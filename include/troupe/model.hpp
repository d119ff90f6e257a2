// Models: a function that builds the graph of one mode, and the spec that it returns.
// Read it to begin with.
//
//   tr::model_spec mlp(tr::graph& g, const tr::features& x, const tr::labels& y, tr::mode mode) {
//     auto h = tr::nn::dense(x["pixels"], {.units = 256, .activation = tr::relu});
//     auto logits = tr::nn::dense(h, {.units = 10});
//     return tr::multi_class_head{.classes = 10}.spec(
//         g, {.mode = mode, .logits = logits, .labels = y, .optimizer = tr::adam{}});
//   }
//
// Heads are in heads.hpp, ready-made models in canned_models.hpp and sequential.hpp.
#pragma once

#include <troupe/operations.hpp>
#include <troupe/optimizer.hpp>

#include <concepts>
#include <map>
#include <variant>

namespace troupe {

enum class mode : uint8_t { train, evaluate, predict };
TROUPE_API std::string_view to_string(mode m) noexcept;

/// The features or labels of a batch, by name. Every symbol has the unknown "batch" as its first extent.
class TROUPE_API named_symbols {
 public:
  named_symbols(graph* owner, std::map<std::string, symbol> values) : graph_(owner), values_(std::move(values)) {}

  /// A name with the source line of its use: an operator cannot have a default argument.
  struct key {
    template <class Text>
    requires std::convertible_to<const Text&, std::string_view> key(
        const Text& text, std::source_location where = std::source_location::current())
      : name(text), at(where) {}  // NOLINT(google-explicit-constructor)
    std::string_view name;
    std::source_location at;
  };
  /// The symbol of that name. A missing name gives an invalid symbol and is an error of the graph (key_missing, which
  /// lists the names that exist).
  symbol operator[](key k) const;
  /// The only symbol. None or several are an error of the graph (invalid_argument, which lists the names).
  symbol only(TROUPE_AT) const;
  const std::map<std::string, symbol>& all() const noexcept { return values_; }
  bool empty() const noexcept { return values_.empty(); }

 private:
  graph* graph_;
  std::map<std::string, symbol> values_;
};
using features = named_symbols;
using labels = named_symbols;

/// A metric that is a ratio of sums over all batches, Σ total / Σ weight, added in float64; 0 if Σ weight is 0.
struct ratio_metric {
  symbol total = {};   ///< One floating element of one batch, such as the number of correct rows.
  symbol weight = {};  ///< One floating element of one batch, such as the number of rows.
};

/// The result of a metric: a number, or a float64 array.
using metric_value = std::variant<double, tensor>;

/// The most elements of a metric's sum, and of an array that is its result.
inline constexpr int64_t metric_elements_max = int64_t{1} << 22;

/// A measure over many batches: the sums of one batch, and a function of their totals over all batches. metrics.hpp has
/// ready-made ones. If the sums of a batch are computed in float64 (cast the elements before summing), a total has an
/// error of at most 1e-12 of the sum of absolute values, and counts are exact; in float32 a batch is rounded to 1e-7.
struct TROUPE_API metric {
  using function = std::function<metric_value(std::span<const tensor> totals)>;
  /// Floating, of known shapes. Each is added up over batches, gradient shards and replicas in float64.
  std::vector<symbol> sums = {};
  /// A pure function that any thread may call. `totals` are float64 and have the order and shapes of `sums`; without a
  /// batch they are zeros.
  function result = {};

  metric() = default;
  metric(std::vector<symbol> its_sums, function its_result)
    : sums(std::move(its_sums)), result(std::move(its_result)) {}
  metric(ratio_metric ratio);  // NOLINT(google-explicit-constructor): a ratio is a metric.
  metric(symbol total, symbol weight) : metric(ratio_metric{total, weight}) {}
  /// For `metrics["x"] = {.total = t, .weight = w}`. It is a template so that `= {a, b}` and `= {}` call the
  /// constructors.
  template <std::same_as<ratio_metric> Ratio = ratio_metric>
  metric& operator=(Ratio ratio) {
    return *this = metric{ratio};
  }
};

/// The result of a model function. Fields that a mode does not need are ignored and may be left out. A missing or
/// invalid field is an error of the graph, with the line of the braces.
struct model_spec {
  std::optional<troupe::mode> mode = {};            ///< The mode that it was made for; if given, it is checked.
  symbol loss = {};                                 ///< A scalar, or one element. Required to train and to evaluate.
  std::optional<troupe::optimizer> optimizer = {};  ///< Required to train; other modes read only its moving_average.
  std::map<std::string, symbol> predictions = {};   ///< Required to predict; each has the batch as its first axis.
  /// Computed in evaluations, and in training at log points (run_config::train_metrics). Not called `loss` or
  /// `global_step`.
  std::map<std::string, metric> metrics = {};
  /// The signatures of an export: for each, its outputs by name; without outputs, a signature offers the predictions. A
  /// single signature is also "serving_default"; of several, one must have that name. Empty: the predictions. Heads
  /// fill it in (docs/heads.md). Read in predict mode only.
  std::map<std::string, std::map<std::string, symbol>> export_outputs = {};
  std::source_location at = std::source_location::current();  ///< The line of the braces; `model_spec s;` has none.
};

/// Builds the graph of one mode. It must make the same variables in each mode.
using model_fn = std::function<model_spec(graph&, const features&, const labels&, troupe::mode)>;

/// A prediction as words: where the integer prediction `of` is i, it is word i of `words`.
struct text_prediction {
  std::string of = {};
  std::vector<std::string> words = {};
};

class host_call_step;  // In host_call.hpp, which says when a function is called.
using host_call_function = std::function<void(host_call_step& step)>;

/// A model function with a name: a plain value. The function is called on any thread, once for each mode.
struct model {
  std::string name = "model";
  model_fn build = {};                                        ///< Required.
  std::map<std::string, text_prediction> texts = {};          ///< Predictions as words, by their names.
  std::map<std::string, host_call_function> host_calls = {};  ///< What `graph::host_call` runs, by names.
  /// The line where it was made, for errors of a spec without a line of its own.
  std::source_location at = std::source_location::current();
};

}  // namespace troupe
