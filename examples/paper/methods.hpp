// The four methods of the comparison, each with its settings chosen on the validation part of a fold.
#pragma once

#include "examples/paper/pairs.hpp"

#include <troupe/run_config.hpp>

namespace paper {

struct budget {
  int64_t steps = 2000;      ///< Of each subnetwork and each network that is trained, with batches of 100.
  int64_t rounds = 5;        ///< The greatest T of AdaNet.
  int64_t cvx_rounds = 200;  ///< The greatest T of AdaNet.CVX.
  uint64_t seed = 1;
  std::string work = {};  ///< An empty directory for the models.
};

/// What a method is worth on a fold: the settings with the best accuracy on the validation part, of equal ones those
/// with the lower loss there, and their accuracy on the test part.
struct verdict {
  double validation = 0, test = 0;
  std::string settings = {};
  int64_t trained = 0;  ///< Networks, or subnetworks, that were trained for it.
};

/// Rates of 0.001 and 0.01 with four weight decays; 5 times as many steps as the others, since it converges slowly.
tr::expected<verdict> judge_logistic(const fold& f, const budget& b);
/// λ of 0, 1e-6, 1e-5 and 1e-4, B of 50 and 100, rates of 0.001 and 0.01. T, too, is chosen on the validation part: a
/// search goes on while the loss there falls.
tr::expected<verdict> judge_adanet(const fold& f, const budget& b);
/// The same λ.
tr::expected<verdict> judge_cvx(const fold& f, const budget& b);
/// Draws of `draw_network`, as many as `networks`.
tr::expected<verdict> judge_networks(const fold& f, const budget& b, int64_t networks);

}  // namespace paper
