// The matrix products that the hand-written loops use, row-major: Eigen's, and oneDNN's where it is installed.
#pragma once

#include <Eigen/Core>

#include <cstdint>

#ifdef TROUPE_BENCH_ONEDNN
#  include <omp.h>
#  include <oneapi/dnnl/dnnl.hpp>

#  include <map>
#  include <tuple>
#endif

namespace troupe::bench {

/// c [m, n] = a · b. `tn`: a is stored as [k, m]. `nt`: b is stored as [n, k].
struct eigen_products {
  using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using in = Eigen::Map<const matrix, Eigen::Aligned64>;
  using out = Eigen::Map<matrix, Eigen::Aligned64>;

  void nn(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
    out{c, m, n}.noalias() = in{a, m, k} * in{b, k, n};
  }
  void tn(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
    out{c, m, n}.noalias() = in{a, k, m}.transpose() * in{b, k, n};
  }
  void nt(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
    out{c, m, n}.noalias() = in{a, m, k} * in{b, n, k}.transpose();
  }
};

#ifdef TROUPE_BENCH_ONEDNN
/// oneDNN's sgemm; for wide gradients of inputs its matmul, which is faster there. Only the calling thread computes:
/// waking a second OpenMP thread costs more than most of these products.
class onednn_products {
 public:
  onednn_products() { omp_set_num_threads(1); }

  void nn(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
    dnnl::sgemm('N', 'N', m, n, k, 1, a, k, b, n, 0, c, n);
  }
  void tn(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
    dnnl::sgemm('T', 'N', m, n, k, 1, a, m, b, n, 0, c, n);
  }
  void nt(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
    if (m * n * k < int64_t{1} << 26)
      return static_cast<void>(dnnl::sgemm('N', 'T', m, n, k, 1, a, k, b, k, 0, c, n));
    auto& [product, x, y, z] = wide_[{m, n, k}];
    if (!product) {
      using dnnl::memory;
      x = {{{m, k}, memory::data_type::f32, memory::format_tag::ab}, engine_, nullptr};
      y = {{{k, n}, memory::data_type::f32, memory::format_tag::ba}, engine_, nullptr};
      z = {{{m, n}, memory::data_type::f32, memory::format_tag::ab}, engine_, nullptr};
      product = dnnl::matmul{{{x.get_desc(), y.get_desc(), z.get_desc()}, engine_}};
    }
    x.set_data_handle(const_cast<float*>(a));
    y.set_data_handle(const_cast<float*>(b));
    z.set_data_handle(c);
    product.execute(stream_, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, y}, {DNNL_ARG_DST, z}});
  }

 private:
  struct primitive {
    dnnl::matmul product;
    dnnl::memory x, y, z;
  };
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::map<std::tuple<int64_t, int64_t, int64_t>, primitive> wide_;
};
#endif

}  // namespace troupe::bench
