#include "examples/paper/plain.hpp"

#include <troupe/canned_models.hpp>

#include <cmath>
#include <sstream>

namespace paper {

namespace {

/// A number in [0, 1), the same with every standard library.
double drawn(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

double log_uniform(std::mt19937_64& random, double least, double greatest) {
  return least * std::pow(greatest / least, drawn(random));
}

}  // namespace

tr::model plain_model(const plain_settings& s) {
  const tr::optimizer optimizer{.rule = tr::adam{.rate = s.rate}, .weight_decay = s.weight_decay};
  if (s.hidden_units.empty())
    return tr::linear_model({.head = tr::binary_head{}, .optimizer = optimizer});
  return tr::dnn_model({.hidden_units = s.hidden_units, .head = tr::binary_head{}, .optimizer = optimizer});
}

std::string to_text(const plain_settings& s) {
  std::ostringstream text;
  for (size_t i = 0; i < s.hidden_units.size(); ++i)
    text << s.hidden_units[i] << (i + 1 < s.hidden_units.size() ? "-" : ", ");
  text << "rate " << s.rate << ", decay " << s.weight_decay;
  return text.str();
}

std::vector<plain_settings> logistic_grid() {
  std::vector<plain_settings> all;
  for (const float rate : {1e-3f, 1e-2f})
    for (const float decay : {0.f, 1e-5f, 1e-4f, 1e-3f})
      all.push_back({.rate = rate, .weight_decay = decay});
  return all;
}

plain_settings draw_network(std::mt19937_64& random) {
  const auto layers = static_cast<size_t>(1 + 3 * drawn(random));
  const auto units = 50 * static_cast<int64_t>(1 + 3 * drawn(random));
  return {.hidden_units = std::vector(layers, units),
          .rate = static_cast<float>(log_uniform(random, 3e-4, 1e-2)),
          .weight_decay = static_cast<float>(log_uniform(random, 1e-6, 1e-3))};
}

}  // namespace paper
