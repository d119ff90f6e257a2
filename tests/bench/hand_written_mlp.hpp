// What one would write by hand: a classifier of two layers on Eigen, trained by a loop over batches.
//
// No temporaries, products without aliasing checks, biases and relu in the pass that needs them, updates in one pass.
#pragma once

#include <Eigen/Dense>

#include <cmath>
#include <cstdint>

namespace troupe::bench {

enum class hand_optimizer { momentum, adam };

class hand_written_mlp {
 public:
  using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using row = Eigen::Matrix<float, 1, Eigen::Dynamic>;
  using flat = Eigen::Map<Eigen::ArrayXf, Eigen::Aligned64>;

  hand_written_mlp(int64_t inputs, int64_t hidden, int64_t classes, int64_t batch, hand_optimizer o)
    : optimizer_(o), h_(batch, hidden), dh_(batch, hidden), z_(batch, classes), shift_(batch),
      w1_(inputs, hidden), w2_(hidden, classes), b1_(hidden), b2_(classes),
      dw1_(inputs, hidden), dw2_(hidden, classes), db1_(hidden), db2_(classes) {
    for (auto* m : {&w1_, &w2_})
      m->setRandom(), *m *= std::sqrt(6.0f / static_cast<float>(m->rows() + m->cols()));
    b1_.setZero();
    b2_.setZero();
    int64_t at = 0;
    for (int64_t n : {w1_.size(), w2_.size(), b1_.size(), b2_.size()})
      at += n;
    m_ = Eigen::ArrayXf::Zero(at);
    s_ = Eigen::ArrayXf::Zero(at);
  }

  /// One step on a batch of row-major x and labels; the mean loss.
  float step(const float* x_data, const int32_t* y) {
    const Eigen::Map<const matrix, Eigen::Aligned64> x(x_data, h_.rows(), w1_.rows());
    const auto rows = h_.rows();
    h_.noalias() = x * w1_;
    h_.array() = (h_.array().rowwise() + b1_.array()).max(0.0f);
    z_.noalias() = h_ * w2_;
    z_.rowwise() += b2_;
    // Softmax in place: z becomes the gradient of the mean loss with respect to the logits.
    shift_ = z_.rowwise().maxCoeff();
    float chosen = 0;
    for (Eigen::Index i = 0; i < rows; ++i)
      chosen += z_(i, y[i]) - shift_[i];
    z_.colwise() -= shift_;
    z_.array() = z_.array().exp();  // By itself, so that it runs over packets.
    shift_ = z_.rowwise().sum();
    const float loss = (shift_.array().log().sum() - chosen) / static_cast<float>(rows);
    const float scale = 1.0f / static_cast<float>(rows);
    z_.array().colwise() *= scale / shift_.array();
    for (Eigen::Index i = 0; i < rows; ++i)
      z_(i, y[i]) -= scale;
    db2_.noalias() = z_.colwise().sum();
    dw2_.noalias() = h_.transpose() * z_;
    dh_.noalias() = z_ * w2_.transpose();
    dh_.array() = (h_.array() > 0.0f).select(dh_.array(), 0.0f);
    db1_.noalias() = dh_.colwise().sum();
    dw1_.noalias() = x.transpose() * dh_;
    ++step_;
    int64_t at = 0;
    update(w1_, dw1_, at);
    update(b1_, db1_, at);
    update(w2_, dw2_, at);
    update(b2_, db2_, at);
    return loss;
  }

 private:
  template <class M>
  void update(M& v, const M& g, int64_t& at) {
    const auto n = v.size();
    Eigen::Map<Eigen::ArrayXf> value(v.data(), n), m(m_.data() + at, n), s(s_.data() + at, n);
    const Eigen::Map<const Eigen::ArrayXf> gradient(g.data(), n);
    at += n;
    if (optimizer_ == hand_optimizer::momentum) {
      // One pass over the four vectors, packet by packet.
      using Eigen::internal::ploadu, Eigen::internal::pstoreu, Eigen::internal::pset1, Eigen::internal::pmadd;
      using packet = Eigen::internal::packet_traits<float>::type;
      constexpr Eigen::Index w = Eigen::internal::packet_traits<float>::size;
      Eigen::Index i = 0;
      for (; i + w <= n; i += w) {
        const packet moved = pmadd(pset1<packet>(0.9f), ploadu<packet>(m.data() + i), ploadu<packet>(gradient.data() + i));
        pstoreu(m.data() + i, moved);
        pstoreu(value.data() + i, pmadd(pset1<packet>(-0.01f), moved, ploadu<packet>(value.data() + i)));
      }
      for (; i < n; ++i) {
        m[i] = 0.9f * m[i] + gradient[i];
        value[i] -= 0.01f * m[i];
      }
    } else {
      const float t = static_cast<float>(step_);
      const float rate = 0.001f * std::sqrt(1 - std::pow(0.999f, t)) / (1 - std::pow(0.9f, t));
      // Blocks that stay in the first-level cache make one pass of the three expressions.
      for (Eigen::Index first = 0; first < n; first += 1024) {
        const Eigen::Index count = std::min<Eigen::Index>(1024, n - first);
        auto mb = m.segment(first, count);
        auto sb = s.segment(first, count);
        auto gb = gradient.segment(first, count);
        mb = 0.9f * mb + 0.1f * gb;
        sb = 0.999f * sb + 0.001f * gb.square();
        value.segment(first, count) -= rate * mb / (sb.sqrt() + 1e-8f);
      }
    }
  }

  hand_optimizer optimizer_;
  int64_t step_ = 0;
  matrix h_, dh_, z_;
  Eigen::VectorXf shift_;
  matrix w1_, w2_;
  row b1_, b2_;
  matrix dw1_, dw2_;
  row db1_, db2_;
  Eigen::ArrayXf m_, s_;
};

}  // namespace troupe::bench
