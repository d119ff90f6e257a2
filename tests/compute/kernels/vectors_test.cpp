#include "compute/kernels/vectors.hpp"

#include "tests/compute/model_fixture.hpp"

#include <cmath>
#include <cstdlib>

namespace troupe {

using namespace test;

TEST_CASE("a wish for vectors is granted where the processor has them, and refused by name where it has not") {
  using enum vector_level;
  CHECK(vectors_for("", avx512) == avx512);
  CHECK(vectors_for("", baseline) == baseline);
  CHECK(vectors_for("avx2", avx512) == avx2);
  CHECK(vectors_for("avx512", avx512) == avx512);
  const auto refused = [](std::string_view wish, vector_level widest) {
    const auto level = vectors_for(wish, widest);
    REQUIRE_FALSE(level);
    return to_text(level.error());
  };
  CHECK(refused("avx512", avx2)
        == "failed_precondition: TROUPE_VECTORS=avx512: this processor has no AVX-512; its widest level is avx2");
  CHECK(refused("avx2", baseline)
        == "failed_precondition: TROUPE_VECTORS=avx2: this build is for cpu=baseline, which has one level only");
  CHECK(refused("AVX2", avx512) == "invalid_argument: TROUPE_VECTORS=AVX2: there are avx2 and avx512, and unset "
                                   "for the widest that the processor has");
}

TEST_CASE("this process computes with the vectors that TROUPE_VECTORS names, or the widest") {
  const char* wish = std::getenv("TROUPE_VECTORS");
  REQUIRE(chosen_vectors());
  CHECK(chosen_vectors() == vectors_for(wish ? wish : "", widest_vectors()));
  CHECK(uses_avx512() == (*chosen_vectors() == vector_level::avx512));
}

TEST_CASE_TEMPLATE("an update takes the exactly rounded root and quotient of each element", T, float, double) {
  const int64_t n = 4096;
  trainer t(
      [n](graph& g) {
        model_spec spec;
        spec.loss = reduce_sum(g.variable({.name = "w", .dims = {n}, .type = dtype_of<T>::value}));
        spec.optimizer = adagrad{.rate = 1, .initial_accumulator = 0.3f};
        return spec;
      },
      {});
  const tensor noisy = noise<T>({n}, 1);
  std::copy_n(noisy.as<T>().data(), n, reinterpret_cast<T*>(t.gradient.get()));
  t.run->apply(0, t.whole(), t.gradient.get(), t.store->arena(0), t.store->arena(0));
  const tensor w = t.value("w"), squares = t.value("w/Adagrad");
  int wrong = 0;
  for (size_t i = 0; i < static_cast<size_t>(n); ++i)
    wrong += w.as<T>()[i] != -noisy.as<T>()[i] / std::sqrt(squares.as<T>()[i]);
  CHECK(wrong == 0);
}

}  // namespace troupe
