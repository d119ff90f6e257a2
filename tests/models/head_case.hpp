// A head whose logits come from a feature, with the results of its evaluation and prediction.
#pragma once

#include <troupe/estimator.hpp>
#include <troupe/heads.hpp>
#include <troupe/predict.hpp>

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

namespace troupe::test {

using columns = std::map<std::string, tensor>;

/// The head's logits are the feature "logits" times a variable with the initial value 1.
inline model on_logits(const head& h) {
  return {"on_logits",
          [h](graph& g, const features& x, const labels& y, mode m) {
            const symbol logits = x["logits"] * g.variable({.name = "one", .dims = {1}, .initial = init::ones()});
            return h.spec(
                g,
                {.mode = m, .logits = logits, .labels = y, .features = x, .optimizer = gradient_descent{.rate = 0.1f}});
          },
          h.texts};
}

template <class T = float>
tensor rows_of(int64_t width, const std::vector<T>& values) {
  return tensor::of<T>({std::ssize(values) / width, width}, std::span<const T>{values});
}
template <class T = float>
tensor numbers(const std::vector<T>& values) {
  return tensor::of<T>({std::ssize(values)}, std::span<const T>{values});
}

/// Data with one example in each row, read in batches of `batch` rows.
struct head_data {
  columns features = {};
  columns labels = {};
  int64_t batch = 3;

  dataset read() const {
    auto data = dataset::from_tensors({features.begin(), features.end()}, {labels.begin(), labels.end()});
    REQUIRE_MESSAGE(data, (data ? "" : to_text(data.error())));
    return data->batch(batch);
  }
};

inline expected<evaluation_result> evaluated(const head& h, const head_data& data) {
  return evaluate({on_logits(h), {.seed = 1}}, {.input = data.read()});
}

inline std::map<std::string, double> metrics_of(const head& h, const head_data& data) {
  auto result = evaluated(h, data);
  REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
  result->metrics.erase("global_step");
  return result->metrics;
}

/// Evaluates, which must fail, and returns the error's text.
inline std::string refusal(const head& h, const head_data& data) {
  const auto result = evaluated(h, data);
  REQUIRE_FALSE(result);
  CHECK(result.error().category == errc::invalid_argument);
  return to_text(result.error());
}

inline std::vector<std::string> names_of(const std::map<std::string, double>& metrics) {
  std::vector<std::string> names;
  for (const auto& [name, value] : metrics)
    names.push_back(name);
  return names;
}

inline std::vector<prediction> predictions_of(const head& h, const head_data& data) {
  auto stream = predict({on_logits(h), {.seed = 1}}, {.input = data.read()});
  REQUIRE(stream);
  std::vector<prediction> all;
  for (;;) {
    auto next = stream->next();
    REQUIRE_MESSAGE(next, (next ? "" : to_text(next.error())));
    if (!*next)
      return all;
    all.push_back(std::move(**next));
  }
}

}  // namespace troupe::test
