#include "compute/kernels/gemm.hpp"

#include <algorithm>

namespace troupe {

gemm_packing packing_of(const gemm_shape& s) noexcept {
  const bool distant = s.k % 1024 == 0;  // Rows at equal page offsets share few sets of the cache.
  return {s.patches || s.n >= 192 || (s.n >= 32 && (s.transpose_a || distant)), s.transpose_b || (s.m >= 32 && s.k * s.n >= 4096)};
}

gemm_places places_of(const gemm_shape& s, int64_t size) noexcept {
  const auto pack = packing_of(s);
  const auto whole_lines = [](int64_t bytes) { return (bytes + 63) / 64 * 64; };
  const int64_t rows = std::min(s.m, gemm_row_block), depth = std::min(s.k, gemm_depth_block);
  gemm_places at{};
  at.b = pack.a ? whole_lines(rows * (s.transpose_a ? depth : gemm_packed_stride) * size) : 0;
  at.patches = at.b + (pack.b ? depth * gemm_panel_bytes : 0);
  at.end = at.patches + (s.patches && s.transpose_a ? whole_lines(depth * gemm_packed_stride * size) : 0);
  return at;
}

namespace {

#if defined(__AVX2__) && defined(__x86_64__)
bool has_avx512() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has;
}
#endif

}  // namespace

template <class T>
int64_t gemm_workspace(const gemm_shape& s) {
  return places_of(s, sizeof(T)).end;
}

template <class T>
void gemm(const gemm_shape& s, const gemm_operands<T>& x, std::byte* workspace) {
#if defined(__AVX2__) && defined(__x86_64__)
  if (has_avx512())
    return gemm_avx512::run(s, x, workspace);
#endif
  gemm_base::run(s, x, workspace);
}

template int64_t gemm_workspace<float>(const gemm_shape&);
template int64_t gemm_workspace<double>(const gemm_shape&);
template void gemm<float>(const gemm_shape&, const gemm_operands<float>&, std::byte*);
template void gemm<double>(const gemm_shape&, const gemm_operands<double>&, std::byte*);

}  // namespace troupe
