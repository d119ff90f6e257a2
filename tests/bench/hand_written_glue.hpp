// What the hand-written loops share besides the products: flat parameters with their update, and the loss.
#pragma once

#include <troupe/tensor.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace troupe::bench {

using row_major = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using matrix_map = Eigen::Map<row_major, Eigen::Aligned64>;
using row_map = Eigen::Map<Eigen::Matrix<float, 1, Eigen::Dynamic>, Eigen::Aligned64>;
using array_map = Eigen::Map<Eigen::ArrayXf, Eigen::Aligned64>;

/// An aligned array of floats, initially zero.
class floats {
 public:
  explicit floats(int64_t n = 0) : count_(n), bytes_(allocate_buffer(std::max<int64_t>(n, 1) * 4)) {
    std::fill_n(data(), n, 0.0f);
  }
  float* data() const { return reinterpret_cast<float*>(bytes_.get()); }
  int64_t size() const { return count_; }

 private:
  int64_t count_;
  std::shared_ptr<std::byte> bytes_;
};

enum class hand_optimizer { momentum, adam };

/// The variables in one array, each at a multiple of 64 bytes; gradients and slots have the same layout, so that an
/// update is one pass over all of them.
class hand_parameters {
 public:
  hand_parameters(const std::vector<int64_t>& sizes, hand_optimizer o) : optimizer_(o) {
    int64_t at = 0;
    for (int64_t n : sizes) {
      offsets_.push_back(at);
      at += (n + 15) / 16 * 16;
    }
    values_ = floats{at}, gradients_ = floats{at}, m_ = floats{at}, s_ = floats{at};
  }
  float* value(size_t i) { return values_.data() + offsets_[i]; }
  float* gradient(size_t i) { return gradients_.data() + offsets_[i]; }

  void update() {
    ++step_;
    optimizer_ == hand_optimizer::momentum ? momentum() : adam();
  }

 private:
  void momentum() {
    using Eigen::internal::pload, Eigen::internal::pstore, Eigen::internal::pset1, Eigen::internal::pmadd;
    using packet = Eigen::internal::packet_traits<float>::type;
    constexpr int64_t w = Eigen::internal::packet_traits<float>::size;
    float *v = values_.data(), *m = m_.data();
    const float* g = gradients_.data();
    for (int64_t i = 0; i < values_.size(); i += w) {
      const packet moved = pmadd(pset1<packet>(0.9f), pload<packet>(m + i), pload<packet>(g + i));
      pstore(m + i, moved);
      pstore(v + i, pmadd(pset1<packet>(-0.01f), moved, pload<packet>(v + i)));
    }
  }
  void adam() {
    const float t = static_cast<float>(step_);
    const float rate = 0.001f * std::sqrt(1 - std::pow(0.999f, t)) / (1 - std::pow(0.9f, t));
    // In blocks that fit the first-level cache, so that the three expressions read memory only once.
    for (int64_t first = 0; first < values_.size(); first += 1024) {
      const int64_t n = std::min<int64_t>(1024, values_.size() - first);
      const array_map g{gradients_.data() + first, n};
      array_map v{values_.data() + first, n}, m{m_.data() + first, n}, s{s_.data() + first, n};
      m = 0.9f * m + 0.1f * g;
      s = 0.999f * s + 0.001f * g.square();
      v -= rate * m / (s.sqrt() + 1e-8f);
    }
  }

  hand_optimizer optimizer_;
  int64_t step_ = 0;
  std::vector<int64_t> offsets_;
  floats values_, gradients_, m_, s_;
};

/// Returns the mean cross-entropy and replaces the logits z by their gradient. `scratch` holds one number for each row.
inline float softmax_loss(matrix_map z, const int32_t* y, Eigen::VectorXf& scratch) {
  const auto rows = z.rows();
  scratch = z.rowwise().maxCoeff();
  float chosen = 0;
  for (Eigen::Index i = 0; i < rows; ++i)
    chosen += z(i, y[i]) - scratch[i];
  z.colwise() -= scratch;
  z.array() = z.array().exp();  // A separate expression, so that Eigen vectorises it.
  scratch = z.rowwise().sum();
  const float loss = (scratch.array().log().sum() - chosen) / static_cast<float>(rows);
  const float scale = 1.0f / static_cast<float>(rows);
  z.array().colwise() *= scale / scratch.array();
  for (Eigen::Index i = 0; i < rows; ++i)
    z(i, y[i]) -= scale;
  return loss;
}

}  // namespace troupe::bench
