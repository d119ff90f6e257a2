// Models: a function that describes the computation for one mode, and what it returns.
// Read it to begin with.
//
//   tr::model_spec mlp(tr::graph& g, const tr::features& x, const tr::labels& y, tr::mode mode) {
//     auto h = tr::nn::dense(x["pixels"], {.units = 256, .activation = tr::relu});
//     auto logits = tr::nn::dense(h, {.units = 10});
//     return tr::multi_class_head{.classes = 10}.spec(g, {.mode = mode, .logits = logits, .labels = y, .optimizer = tr::adam{}});
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

/// A metric that is a ratio of sums over all examples: Σ total / Σ weight, each added up in float64; 0 where Σ weight is 0.
struct ratio_metric {
  symbol total = {};   ///< One floating element of one batch, such as the number of correct rows.
  symbol weight = {};  ///< One floating element of one batch, such as the number of rows.
};

/// What a metric comes to: a number, or a float64 array.
using metric_value = std::variant<double, tensor>;

/// The most elements of a sum of a metric, and of an array that it comes to.
inline constexpr int64_t metric_elements_max = int64_t{1} << 22;

/// Something that is measured over many batches: sums of one batch, and what their totals over all batches come to. Ready-made ones are in
/// metrics.hpp. A total has an error of at most 1e-12 of the sum of absolute values, and a count none, if the sums are made in float64
/// (cast the elements before they are summed); in float32 each batch is rounded to about 1e-7.
struct TROUPE_API metric {
  using function = std::function<metric_value(std::span<const tensor> totals)>;
  /// Floating, of known shapes of at most metric_elements_max elements. Each is added up over batches, shards and replicas in float64.
  std::vector<symbol> sums = {};
  /// A pure function; any thread may call it. `totals` are float64, in the order and the shapes of `sums`; zeros without a batch.
  function result = {};

  metric() = default;
  metric(std::vector<symbol> its_sums, function its_result) : sums(std::move(its_sums)), result(std::move(its_result)) {}
  metric(ratio_metric ratio);  // NOLINT(google-explicit-constructor): a ratio is a metric.
  metric(symbol total, symbol weight) : metric(ratio_metric{total, weight}) {}
  /// For `metrics["x"] = {.total = t, .weight = w}`; a template, so that `= {a, b}` and `= {}` mean the constructors.
  template <std::same_as<ratio_metric> Ratio = ratio_metric>
  metric& operator=(Ratio ratio) { return *this = metric{ratio}; }
};

/// The result of a model function. Fields that a mode does not need are ignored and may be left out. A field that is missing
/// or wrong is an error of the graph that points to the line of the braces.
struct model_spec {
  std::optional<troupe::mode> mode = {};               ///< The mode that it was made for; if given, it is checked.
  symbol loss = {};                                    ///< Scalar or one element. Needed to train and to evaluate.
  std::optional<troupe::optimizer> optimizer = {};     ///< Needed to train; other modes read only its moving_average.
  std::map<std::string, symbol> predictions = {};      ///< Needed to predict.
  /// Of evaluation, and of training where it has any. `loss` and `global_step` are reserved names.
  std::map<std::string, metric> metrics = {};
  /// What an export offers to callers: tensors by name, for each signature; one without tensors offers the predictions. A single one is also
  /// "serving_default", of several one must have that name; none: the predictions. Heads fill it in (docs/heads.md). Looked at when predicting.
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

}  // namespace troupe
