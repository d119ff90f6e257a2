// A classifier of dense layers as one would write it by hand: a loop over batches.
//
// No temporaries, products without aliasing checks, biases and relu in the pass that needs them, the update in one
// pass.
#pragma once

#include "tests/bench/hand_products.hpp"
#include "tests/bench/hand_written_glue.hpp"

namespace troupe::bench {

template <class Products>
class hand_written_mlp {
 public:
  hand_written_mlp(std::vector<int64_t> widths, int64_t batch, hand_optimizer o)
    : widths_(std::move(widths)), batch_(batch), scratch_(batch), parameters_(sizes(widths_), o) {
    for (int64_t w : widths_) {
      values_.emplace_back(batch * w);
      deltas_.emplace_back(batch * w);
    }
  }
  /// Sets variable i to our initial values. The order is kernel [inputs, units] and bias of each layer.
  void start(size_t i, std::span<const float> values) { std::ranges::copy(values, parameters_.value(i)); }

  /// One step on a batch of row-major x and labels; returns the mean loss.
  float step(const float* x, const int32_t* y) {
    const size_t last = widths_.size() - 1;
    for (size_t i = 1; i <= last; ++i) {
      products_.nn(batch_, widths_[i], widths_[i - 1], i == 1 ? x : values_[i - 1].data(), kernel(i),
                   values_[i].data());
      const row_map bias{parameters_.value(2 * i - 1), widths_[i]};
      auto h = values(i);
      if (i < last)
        h.array() = (h.array().rowwise() + bias.array()).max(0.0f);
      else
        h.rowwise() += bias;
    }
    const float loss = softmax_loss(values(last), y, scratch_);
    for (size_t i = last; i > 0; --i) {
      const auto& delta = i == last ? values_[i] : deltas_[i];
      row_map{parameters_.gradient(2 * i - 1), widths_[i]}
          .noalias() = matrix_map{delta.data(), batch_, widths_[i]}.colwise().sum();
      products_.tn(widths_[i - 1], widths_[i], batch_, i == 1 ? x : values_[i - 1].data(), delta.data(),
                   parameters_.gradient(2 * i - 2));
      if (i > 1) {
        products_.nt(batch_, widths_[i - 1], widths_[i], delta.data(), kernel(i), deltas_[i - 1].data());
        matrix_map below{deltas_[i - 1].data(), batch_, widths_[i - 1]};
        below.array() = (values(i - 1).array() > 0.0f).select(below.array(), 0.0f);
      }
    }
    parameters_.update();
    return loss;
  }

 private:
  static std::vector<int64_t> sizes(const std::vector<int64_t>& widths) {
    std::vector<int64_t> all;
    for (size_t i = 1; i < widths.size(); ++i)
      all.insert(all.end(), {widths[i - 1] * widths[i], widths[i]});
    return all;
  }
  const float* kernel(size_t layer) { return parameters_.value(2 * layer - 2); }
  matrix_map values(size_t layer) { return {values_[layer].data(), batch_, widths_[layer]}; }

  std::vector<int64_t> widths_;
  int64_t batch_;
  Eigen::VectorXf scratch_;
  hand_parameters parameters_;
  /// One for each layer. The last element of `values_` holds the logits, later their gradient.
  std::vector<floats> values_, deltas_;
  Products products_;
};

}  // namespace troupe::bench
