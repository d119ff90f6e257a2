// What AdaNet is compared with: logistic regression, and dense networks whose settings are drawn.
#pragma once

#include <troupe/model.hpp>

#include <random>

namespace paper {

namespace tr = troupe;

struct plain_settings {
  std::vector<int64_t> hidden_units = {};  ///< Empty: logistic regression.
  float rate = 0.001f;                     ///< Of Adam.
  float weight_decay = 0;                  ///< Of all weights in each step.
};
tr::model plain_model(const plain_settings& s);
/// "100-100, rate 0.001, decay 1e-05"
std::string to_text(const plain_settings& s);

/// All settings of logistic regression that are tried.
std::vector<plain_settings> logistic_grid();
/// One draw: 1 to 3 layers of 50, 100 or 150 units, log-uniform rate and decay.
plain_settings draw_network(std::mt19937_64& random);

}  // namespace paper
