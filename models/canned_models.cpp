#include "models/network_parts.hpp"
#include "words/text.hpp"

#include <troupe/canned_models.hpp>

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

template <class Options>
dnn_layers layers_of(const Options& o) {
  return {o.hidden_units, o.activation, o.dropout, o.batch_norm};
}

model dense(const std::string& name, dnn_layers layers, head h, optimizer by, std::source_location at) {
  return headed_model(
      name, std::move(h),
      [name, layers = std::move(layers), by = std::move(by)](graph& g, const features& x, int64_t logits, mode m) {
        return network{dnn_logits(g, name, x, layers, logits, m), by};
      },
      at);
}

model linear(const std::string& name, head h, optimizer by, std::source_location at) {
  return headed_model(
      name, std::move(h),
      [name, by = std::move(by)](graph& g, const features& x, int64_t logits, mode) {
        return network{linear_logits(g, name, x, logits), by};
      },
      at);
}

/// The features called `names`, or all if there are no names. A name that does not exist is an error of the graph.
features chosen(graph& g, const std::string& model, const std::string& field, const features& x,
                const std::vector<std::string>& names) {
  if (names.empty())
    return x;
  std::map<std::string, symbol> some;
  for (const auto& name : names) {
    const auto found = x.all().find(name);
    if (found == x.all().end())
      g.invalid({errc::key_missing, model + ": " + field + " has '" + name + "', which is none of the features: "
                                        + joined(x.all(), ", ", [](const auto& one) { return quoted(one.first); })});
    else
      some.insert(*found);
  }
  return {&g, std::move(some)};
}

/// The FTRL rule for the linear part of the Estimator's combined models, with `columns` columns. Its linear models have
/// a limit of 0.2 instead of 0.005.
update_rule linear_rule_for(size_t columns) {
  return ftrl{
      .rate = static_cast<float>(std::min(0.005, 1 / std::sqrt(static_cast<double>(std::max<size_t>(columns, 1)))))};
}

template <class Options>
multi_class_head head_of(const Options& o) {
  return {.classes = o.classes,
          .vocabulary = o.vocabulary,
          .label_smoothing = o.label_smoothing,
          .confusion_matrix = o.confusion_matrix};
}

}  // namespace

model dnn_model(dnn_model_options o, std::source_location at) {
  return dense("dnn_model", layers_of(o), std::move(o.head), std::move(o.optimizer), at);
}

model linear_model(linear_model_options o, std::source_location at) {
  return linear("linear_model", std::move(o.head), std::move(o.optimizer), at);
}

model dnn_linear_combined_model(dnn_linear_combined_model_options options, std::source_location at) {
  const std::string name = "dnn_linear_combined_model";
  auto h = options.head;
  return headed_model(
      name, std::move(h),
      [name, o = std::move(options)](graph& g, const features& x, int64_t logits, mode m) {
        const auto wide = chosen(g, name, "linear_features", x, o.linear_features);
        const symbol deep = dnn_logits(g, name, chosen(g, name, "dnn_features", x, o.dnn_features), layers_of(o),
                                       logits, m);
        network made{add(deep, linear_logits(g, name, wide, logits)), o.optimizer};
        made.by.groups.push_back(
            {.prefix = "linear/", .rule = o.linear_rule.value_or(linear_rule_for(wide.all().size()))});
        return made;
      },
      at);
}

model baseline_model(baseline_model_options o, std::source_location at) {
  return headed_model(
      "baseline_model", std::move(o.head),
      [by = std::move(o.optimizer)](graph& g, const features&, int64_t logits, mode) {
        const auto scope = g.scope("baseline");
        return network{
            broadcast_to(g.variable({.name = "bias", .dims = {logits}}), {g.unknown("batch"), extent{logits}}), by};
      },
      at);
}

model dnn_classifier(dnn_classifier_options o, std::source_location at) {
  return dense("dnn_classifier", layers_of(o), head_of(o), std::move(o.optimizer), at);
}

model dnn_regressor(dnn_regressor_options o, std::source_location at) {
  return dense("dnn_regressor", layers_of(o), regression_head{.label_dimension = o.label_dimension},
               std::move(o.optimizer), at);
}

model linear_classifier(linear_classifier_options o, std::source_location at) {
  return linear("linear_classifier", head_of(o), std::move(o.optimizer), at);
}

model linear_regressor(linear_regressor_options o, std::source_location at) {
  return linear("linear_regressor", regression_head{.label_dimension = o.label_dimension}, std::move(o.optimizer), at);
}

}  // namespace troupe
