#include "compute/kernels/gemm.hpp"

#include "compute/kernels/vectors.hpp"

#include <algorithm>

namespace troupe {

namespace {

int64_t whole_lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

gemm_packing packing_of(const gemm_shape& s, int64_t lda, int64_t ldb) noexcept {
  // Packing pays for rows at equal page offsets, which share few cache sets, and for rows that do not begin at a cache
  // line, whose vectors lie in two lines. Copying other rows costs more than it saves, unless many tiles read the copy.
  const auto distant = [](int64_t stride) { return stride % 512 == 0; };
  return {s.n >= (distant(lda)           ? 128
                  : s.m * s.k > gemm_far ? 256
                                         : 512),
          s.transpose_b || s.m >= (distant(ldb) || ldb % 16 != 0 ? 36 : 192)};
}

gemm_places places_of(const gemm_shape& s, const gemm_packing& pack, int64_t size) noexcept {
  const int64_t depth = std::min(s.k, gemm_depth_block), columns = std::min(s.n, gemm_column_block), panel = 128;
  gemm_places at{};
  if (pack.a)
    at.rows = s.m <= gemm_few_rows ? std::max<int64_t>(1, s.m) : gemm_packed_rows;
  else
    at.rows = std::clamp(gemm_row_elements / std::max<int64_t>(1, depth) / 12 * 12, gemm_row_block_min, gemm_row_block);
  at.b = pack.a ? whole_lines(std::min(s.m, at.rows) * depth * size) + 64 : 0;
  at.apart = s.m > at.rows ? 1 : 0;
  at.end = at.b + (pack.b ? depth * (at.apart ? (columns * size + panel - 1) / panel * panel : panel) : 0);
  return at;
}

template <class T>
int64_t gemm_workspace(const gemm_shape& s) {
  const auto pack = packing_of(s, s.transpose_a ? s.m : s.k, s.transpose_b ? s.k : s.n);
  // A share of the rows may be packed at once, which takes more memory than packing block by block.
  gemm_shape few = s;
  few.m = std::min(s.m, gemm_few_rows);
  return std::max(places_of(s, pack, sizeof(T)).end, places_of(few, pack, sizeof(T)).end);
}

template <class T>
void gemm(const gemm_shape& s, const gemm_operands<T>& x, std::byte* workspace) {
#if defined(__AVX2__) && defined(__x86_64__)
  if (uses_avx512())
    return gemm_avx512::run(s, x, workspace);
#endif
  gemm_base::run(s, x, workspace);
}

template int64_t gemm_workspace<float>(const gemm_shape&);
template int64_t gemm_workspace<double>(const gemm_shape&);
template void gemm<float>(const gemm_shape&, const gemm_operands<float>&, std::byte*);
template void gemm<double>(const gemm_shape&, const gemm_operands<double>&, std::byte*);

}  // namespace troupe
