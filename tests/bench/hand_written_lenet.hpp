// LeNet written by hand on oneDNN: its direct convolutions with relu fused, in the layout that they choose, and its
// pooling; dense layers on oneDNN's products, with rows in that same layout, so that no data is reordered.
#pragma once

#include "tests/bench/hand_products.hpp"
#include "tests/bench/hand_written_glue.hpp"

#ifdef TROUPE_BENCH_ONEDNN
#  include <numeric>

namespace troupe::bench {

/// relu(conv 5×5 + bias) of a square image, followed by pooling by 2.
class onednn_block {
 public:
  using memory = dnnl::memory;

  onednn_block(const dnnl::engine& e, const memory::desc& image, int64_t outputs, bool first) : first_(first) {
    using namespace dnnl;
    const auto dims = image.dims();
    const memory::dim batch = dims[0], inputs = dims[1], side = dims[2];
    const memory::dims strides{1, 1}, around{2, 2}, two{2, 2}, none{0, 0};
    const auto any = [](const memory::dims& d) {
      return memory::desc{d, memory::data_type::f32, memory::format_tag::any};
    };
    const memory::desc weights = any({outputs, inputs, 5, 5}),
                       bias{{outputs}, memory::data_type::f32, memory::format_tag::a},
                       full = any({batch, outputs, side, side});
    post_ops relu;
    relu.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
    primitive_attr with_relu;
    with_relu.set_post_ops(relu);
    const convolution_forward::primitive_desc forward{{prop_kind::forward_training, algorithm::convolution_direct,
                                                       image, weights, bias, full, strides, around, around},
                                                      with_relu,
                                                      e};
    const pooling_forward::primitive_desc pool{{prop_kind::forward_training, algorithm::pooling_max, forward.dst_desc(),
                                                any({batch, outputs, side / 2, side / 2}), two, two, none, none},
                                               e};
    const pooling_backward::primitive_desc unpool{
        {algorithm::pooling_max, forward.dst_desc(), pool.dst_desc(), two, two, none, none}, e, pool};
    const convolution_backward_weights::primitive_desc learn{
        {algorithm::convolution_direct, image, weights, bias, forward.dst_desc(), strides, around, around}, e, forward};
    weights_ = memory{forward.weights_desc(), e, nullptr}, bias_ = memory{bias, e, nullptr};
    full_ = memory{forward.dst_desc(), e}, pooled_ = memory{pool.dst_desc(), e},
    chosen_ = memory{pool.workspace_desc(), e};
    full_delta_ = memory{forward.dst_desc(), e}, pooled_delta_ = memory{pool.dst_desc(), e};
    weights_gradient_ = memory{forward.weights_desc(), e, nullptr}, bias_gradient_ = memory{bias, e, nullptr};
    learned_ = learn.diff_weights_desc() == forward.weights_desc() ? weights_gradient_
                                                                   : memory{learn.diff_weights_desc(), e};
    forward_ = convolution_forward{forward}, pool_ = pooling_forward{pool}, unpool_ = pooling_backward{unpool},
    learn_ = convolution_backward_weights{learn};
    if (!first_) {
      const convolution_backward_data::primitive_desc back{
          {algorithm::convolution_direct, image, weights, forward.dst_desc(), strides, around, around}, e, forward};
      turned_ = memory{back.weights_desc(), e};
      back_ = convolution_backward_data{back};
    }
  }

  int64_t weights() const { return static_cast<int64_t>(weights_.get_desc().get_size() / sizeof(float)); }
  void bind(float* weights, float* bias, float* weights_gradient, float* bias_gradient) {
    const bool same = learned_.get_desc() == weights_gradient_.get_desc();
    weights_.set_data_handle(weights), bias_.set_data_handle(bias);
    weights_gradient_.set_data_handle(weights_gradient), bias_gradient_.set_data_handle(bias_gradient);
    if (same)
      learned_ = weights_gradient_;
  }
  const memory& kernel() const { return weights_; }
  const memory& pooled() const { return pooled_; }
  const memory& pooled_delta() const { return pooled_delta_; }

  void forward(dnnl::stream& s, const memory& image) {
    forward_.execute(
        s, {{DNNL_ARG_SRC, image}, {DNNL_ARG_WEIGHTS, weights_}, {DNNL_ARG_BIAS, bias_}, {DNNL_ARG_DST, full_}});
    pool_.execute(s, {{DNNL_ARG_SRC, full_}, {DNNL_ARG_DST, pooled_}, {DNNL_ARG_WORKSPACE, chosen_}});
  }
  /// Computes the gradients of the parameters from the one in `pooled_delta`, and except in the first block that of the
  /// image.
  void backward(dnnl::stream& s, const memory& image, const memory& image_delta) {
    const auto n = static_cast<Eigen::Index>(pooled_.get_desc().get_size() / sizeof(float));
    array_map delta{static_cast<float*>(pooled_delta_.get_data_handle()), n};
    const array_map value{static_cast<float*>(pooled_.get_data_handle()), n};
    delta = (value > 0.0f).select(delta, 0.0f);  // The gradient of relu, after pooling: on a quarter of the values.
    unpool_.execute(
        s, {{DNNL_ARG_DIFF_DST, pooled_delta_}, {DNNL_ARG_DIFF_SRC, full_delta_}, {DNNL_ARG_WORKSPACE, chosen_}});
    learn_.execute(s, {{DNNL_ARG_SRC, image},
                       {DNNL_ARG_DIFF_DST, full_delta_},
                       {DNNL_ARG_DIFF_WEIGHTS, learned_},
                       {DNNL_ARG_DIFF_BIAS, bias_gradient_}});
    if (learned_.get_desc() != weights_gradient_.get_desc())
      dnnl::reorder{learned_, weights_gradient_}.execute(s, learned_, weights_gradient_);
    if (first_)
      return;
    if (turned_.get_desc() != weights_.get_desc())
      dnnl::reorder{weights_, turned_}.execute(s, weights_, turned_);
    back_.execute(s, {{DNNL_ARG_DIFF_DST, full_delta_},
                      {DNNL_ARG_WEIGHTS, turned_.get_desc() != weights_.get_desc() ? turned_ : weights_},
                      {DNNL_ARG_DIFF_SRC, image_delta}});
  }

 private:
  bool first_;
  memory weights_, bias_, full_, pooled_, chosen_, full_delta_, pooled_delta_, weights_gradient_, bias_gradient_,
      learned_, turned_;
  dnnl::convolution_forward forward_;
  dnnl::pooling_forward pool_;
  dnnl::pooling_backward unpool_;
  dnnl::convolution_backward_weights learn_;
  dnnl::convolution_backward_data back_;
};

class hand_written_lenet {
 public:
  hand_written_lenet(int64_t batch, hand_optimizer o)
    : batch_(batch),
      image_({{batch, 1, 28, 28}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::nchw}, engine_, nullptr),
      first_(engine_, image_.get_desc(), 32, true), second_(engine_, first_.pooled().get_desc(), 64, false),
      scratch_(batch), hidden_(batch * units), hidden_delta_(batch * units), logits_(batch * 10),
      parameters_({first_.weights(), 32, second_.weights(), 64, rows * units, units, units * 10, 10}, o) {
    first_.bind(parameters_.value(0), parameters_.value(1), parameters_.gradient(0), parameters_.gradient(1));
    second_.bind(parameters_.value(2), parameters_.value(3), parameters_.gradient(2), parameters_.gradient(3));
  }

  /// Sets variable i to our initial values: kernels are [height, width, inputs, outputs], and rows of `dense` are
  /// [height, width, channels].
  void start(size_t i, std::span<const float> values) {
    using dnnl::memory;
    if (i == 0 || i == 2) {
      const auto& kernel = (i == 0 ? first_ : second_).kernel();
      memory plain{{kernel.get_desc().dims(), memory::data_type::f32, memory::format_tag::hwio}, engine_};
      std::ranges::copy(values, static_cast<float*>(plain.get_data_handle()));
      dnnl::reorder{plain, kernel}.execute(stream_, plain, const_cast<memory&>(kernel));
    } else if (i == 4) {
      const auto order = rows_in_layout();
      for (int64_t row = 0; row < rows; ++row)
        std::copy_n(values.begin() + order[static_cast<size_t>(row)] * units, units,
                    parameters_.value(4) + row * units);
    } else {
      std::ranges::copy(values, parameters_.value(i));
    }
  }

  float step(const float* x, const int32_t* y) {
    image_.set_data_handle(const_cast<float*>(x));
    first_.forward(stream_, image_);
    second_.forward(stream_, first_.pooled());
    const auto* flat = static_cast<const float*>(second_.pooled().get_data_handle());
    auto* flat_delta = static_cast<float*>(second_.pooled_delta().get_data_handle());
    const auto matrix = [&](const floats& of) { return matrix_map{of.data(), batch_, of.size() / batch_}; };
    auto hidden = matrix(hidden_), delta = matrix(hidden_delta_), logits = matrix(logits_);
    products_.nn(batch_, units, rows, flat, parameters_.value(4), hidden_.data());
    hidden.array() = (hidden.array().rowwise() + row_map{parameters_.value(5), units}.array()).max(0.0f);
    products_.nn(batch_, 10, units, hidden_.data(), parameters_.value(6), logits_.data());
    logits.rowwise() += row_map{parameters_.value(7), 10};
    const float loss = softmax_loss(logits, y, scratch_);

    row_map{parameters_.gradient(7), 10}.noalias() = logits.colwise().sum();
    products_.tn(units, 10, batch_, hidden_.data(), logits_.data(), parameters_.gradient(6));
    products_.nt(batch_, units, 10, logits_.data(), parameters_.value(6), hidden_delta_.data());
    delta.array() = (hidden.array() > 0.0f).select(delta.array(), 0.0f);
    row_map{parameters_.gradient(5), units}.noalias() = delta.colwise().sum();
    products_.tn(rows, units, batch_, flat, hidden_delta_.data(), parameters_.gradient(4));
    products_.nt(batch_, rows, units, hidden_delta_.data(), parameters_.value(4), flat_delta);
    second_.backward(stream_, first_.pooled(), first_.pooled_delta());
    first_.backward(stream_, image_, {});
    parameters_.update();
    return loss;
  }

 private:
  static constexpr int64_t rows = 7 * 7 * 64, units = 512;

  /// For each of our rows, its place in the layout of the last pooling. Found by reordering row numbers as floats,
  /// which hold them exactly.
  std::vector<int64_t> rows_in_layout() {
    dnnl::memory plain{
        {second_.pooled().get_desc().dims(), dnnl::memory::data_type::f32, dnnl::memory::format_tag::nhwc}, engine_};
    dnnl::memory moved{second_.pooled().get_desc(), engine_};
    auto* numbers = static_cast<float*>(plain.get_data_handle());
    std::iota(numbers, numbers + rows, 0.0f);
    dnnl::reorder{plain, moved}.execute(stream_, plain, moved);
    const auto* of_first_image = static_cast<const float*>(moved.get_data_handle());
    return {of_first_image, of_first_image + rows};
  }

  onednn_products products_;  // First, because it sets the number of threads.
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  int64_t batch_;
  dnnl::memory image_;
  onednn_block first_, second_;
  Eigen::VectorXf scratch_;
  floats hidden_, hidden_delta_, logits_;
  hand_parameters parameters_;
};

}  // namespace troupe::bench
#endif
