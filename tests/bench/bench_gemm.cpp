// Matrix products, one thread, float32: ours compared with Eigen's, and with oneDNN's where it is installed; and the
// share of the core's multiply-add peak that each reaches, which is measured in the same rounds. N: as stored, T:
// transposed. TN is the gradient of the weights, NT that of the inputs.
#include "compute/kernels/gemm.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/fma_peak.hpp"
#include "tests/bench/hand_products.hpp"

#include <troupe/tensor.hpp>

namespace troupe::bench {
namespace {

std::shared_ptr<float> numbers(int64_t n) {
  const auto bytes = allocate_buffer(n * 4 + 64);
  auto* x = reinterpret_cast<float*>(bytes.get());
  for (int64_t i = 0; i < n; ++i)
    x[i] = 0.5f - 0.1f * static_cast<float>(i % 11);
  return {bytes, x};
}

/// Compares our product with that of `products`.
template <class Products>
void compare_with(const char* who, Products products, suite& s, const gemm_shape& g) {
  const auto a = numbers(g.m * g.k), b = numbers(g.k * g.n), c = numbers(g.m * g.n);
  const auto workspace = allocate_buffer(gemm_workspace<float>(g) + 64);
  const double flops = 2.0 * static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  const auto ours = [&](int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      gemm<float>(g, {a.get(), b.get(), c.get()}, workspace.get());
  };
  const auto product = g.transpose_a ? &Products::tn : g.transpose_b ? &Products::nt : &Products::nn;
  const auto theirs = [&](int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      (products.*product)(g.m, g.n, g.k, a.get(), b.get(), c.get());
  };
  const std::string name = std::to_string(g.m) + "x" + std::to_string(g.n) + "x" + std::to_string(g.k) + " "
                           + (g.transpose_a ? "T" : "N") + (g.transpose_b ? "T" : "N");
  const auto r = s.compare(
      {.name = name, .unit = "/s", .reference_name = who, .seconds = 0.03, .probe = fma_peak, .probe_units = 400}, ours,
      theirs);
  char text[128];
  const double share = flops / flops_of_peak_unit();
  std::snprintf(text, sizeof text, "ours %.1f GFLOP/s; of a peak of %.1f: ours %.2f, %s %.2f", r.ours * flops * 1e-9,
                r.probe * flops_of_peak_unit() * 1e-9, r.ours_per_probe * share, who, r.reference_per_probe * share);
  s.note(text);
}

void compare(suite& s, const gemm_shape& g) {
  compare_with("Eigen", eigen_products{}, s, g);
#ifdef TROUPE_BENCH_ONEDNN
  compare_with("oneDNN", onednn_products{}, s, g);
#endif
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) {
  using namespace troupe;
  bench::suite s{"gemm", argc, argv};
  const auto orientations = [&](int64_t m, int64_t n, int64_t k) {
    bench::compare(s, {m, n, k, false, false});
    bench::compare(s, {m, n, k, true, false});
    bench::compare(s, {m, n, k, false, true});
  };
  for (int64_t n : {128, 256, 512, 1024, 2048})
    orientations(n, n, n);
  orientations(64, 784, 128);
  orientations(128, 784, 256);
  orientations(256, 1024, 1024);
  // The matrix products of a training step of 784-128-10.
  for (int64_t batch : {32, 128, 512}) {
    bench::compare(s, {batch, 128, 784, false, false});
    bench::compare(s, {784, 128, batch, true, false});
    bench::compare(s, {batch, 10, 128, false, false});
    bench::compare(s, {128, 10, batch, true, false});
    bench::compare(s, {batch, 128, 10, false, true});
  }
}
