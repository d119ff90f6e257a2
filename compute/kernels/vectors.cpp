#include "compute/kernels/vectors.hpp"

#include <cstdlib>
#include <string>

namespace troupe {

std::string_view to_string(vector_level level) noexcept {
  switch (level) {
    case vector_level::baseline: return "baseline";
    case vector_level::avx2: return "avx2";
    case vector_level::avx512: return "avx512";
  }
  return "";
}

vector_level widest_vectors() noexcept {
#if defined(__AVX2__) && defined(__x86_64__)
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
                    && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
                    && __builtin_cpu_supports("avx512vl");
  return wide ? vector_level::avx512 : vector_level::avx2;
#else
  return vector_level::baseline;
#endif
}

expected<vector_level> vectors_for(std::string_view wish, vector_level widest) {
  if (wish.empty())
    return widest;
  const std::string set = "TROUPE_VECTORS=" + std::string{wish};
  if (wish != "avx2" && wish != "avx512")
    return fail(errc::invalid_argument,
                set + ": there are avx2 and avx512, and unset for the widest that the processor has");
  const auto level = wish == "avx2" ? vector_level::avx2 : vector_level::avx512;
  if (widest == vector_level::baseline)
    return fail(errc::failed_precondition, set + ": this build is for cpu=baseline, which has one level only");
  if (level > widest)
    return fail(errc::failed_precondition,
                set + ": this processor has no AVX-512; its widest level is " + std::string{to_string(widest)});
  return level;
}

const expected<vector_level>& chosen_vectors() {
  static const expected<vector_level> chosen = [] {
    const char* wish = std::getenv("TROUPE_VECTORS");
    return vectors_for(wish ? wish : "", widest_vectors());
  }();
  return chosen;
}

bool uses_avx512() noexcept {
  static const bool uses = chosen_vectors() && *chosen_vectors() == vector_level::avx512;
  return uses;
}

}  // namespace troupe
