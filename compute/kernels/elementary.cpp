#include "compute/kernels/elementary.hpp"

#include "compute/kernels/simd.hpp"

#include <cmath>
#include <numbers>

namespace troupe::elementary {
namespace {

using simd::first;
using simd::set;

/// Range reduction: x = n·π/2 + r + rest with |r| <= π/4. It uses three parts of π/2 whose products with n < 2^20 are
/// exact (Cody and Waite 1980).
struct quarter_turns {
  int64_t n;
  double r, rest;
};

quarter_turns reduced(double x) {
  constexpr double part1 = 0x1.921fb544p+0, part2 = 0x1.0b4611a6p-34, part3 = 0x1.3198a2e037073p-69;
  const double n = std::floor(x * (2 * std::numbers::inv_pi) + 0.5);
  const double rough = x - n * part1, cut = n * part2, less = rough - cut;
  const double low = n * part3 - ((rough - less) - cut);
  const double r = less - low;
  return {static_cast<int64_t>(n), r, (less - r) - low};
}

// Sun Microsystems' polynomials of sin and cos on [-π/4, π/4] (fdlibm, k_sin.c and k_cos.c, 1993).
double sin_near_zero(double x, double rest) {
  const double z = x * x, v = z * x;
  const double p = 8.33333333332248946124e-03
                   + z
                         * (-1.98412698298579493134e-04
                            + z
                                  * (2.75573137070700676789e-06
                                     + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
  return x - ((z * (0.5 * rest - v * p) - rest) - v * -1.66666666666666324348e-01);
}

double cos_near_zero(double x, double rest) {
  const double z = x * x;
  const double
      p = z
          * (4.16666666666666019037e-02
             + z
                   * (-1.38888888888741095749e-03
                      + z
                            * (2.48015872894767294178e-05
                               + z
                                     * (-2.75573143513906633035e-07
                                        + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
  const double half = 0.5 * z, w = 1 - half;
  return w + (((1 - w) - half) + (z * p - x * rest));
}

/// sin(x + quarters·π/2).
double sin_turned(double x, int64_t quarters) {
  if (!std::isfinite(x))
    return x - x;
  const auto t = reduced(x);
  const auto quadrant = static_cast<uint64_t>(t.n + quarters) & 3;
  const double y = quadrant & 1 ? cos_near_zero(t.r, t.rest) : sin_near_zero(t.r, t.rest);
  return quadrant & 2 ? -y : y;
}

template <class T>
bool is_odd(T y) {
  return std::floor(y) == y && 2 * std::floor(y / 2) != y;
}

/// Eigen's pow, with the sign restored that Eigen loses for a base of -0.
template <class T>
T power_of(T x, T y) {
  const T z = first(simd::pow(set(x), set(y)));
  return x == 0 && std::signbit(x) && is_odd(y) ? -std::abs(z) : z;
}

}  // namespace

// Below this bound e^x is not a normal number, and Eigen's result stays at the smallest one.
double exp(double x) { return x < -0x1.6232bdd7abcd2p9 ? 0 : first(simd::pexp(set(x))); }
double expm1(double x) { return x == 0 ? x : first(simd::expm1(set(x))); }
double log(double x) { return first(simd::plog(set(x))); }
float log(float x) { return first(simd::plog(set(x))); }
double log1p(double x) { return x == 0 ? x : first(simd::log1p(set(x))); }
double pow(double x, double y) { return power_of(x, y); }
float pow(float x, float y) { return power_of(x, y); }

// tanh |x| = -t / (t + 2), t = e^(-2|x|) - 1
double tanh(double x) {
  const double t = expm1(-2 * std::abs(x));
  return std::copysign(t / (t + 2), x);
}

double erf(double x) {
  const double a = std::abs(x);
  if (!(a < 6))
    return x != x ? x : std::copysign(1.0, x);
  const double bell = std::numbers::inv_sqrtpi * exp(-x * x);
  if (a < 3) {  // 2/√π · e^-x² · Σ 2^n x^(2n+1) / (2n+1)!!: all terms have one sign, so none cancel.
    double term = x, sum = x;
    for (int n = 1; std::abs(term) > 0x1p-56 * std::abs(sum); ++n) {
      term *= 2 * x * x / (2 * n + 1);
      sum += term;
    }
    return 2 * bell * sum;
  }
  double below = 0;  // Laplace's continued fraction: 1 - e^-x²/√π / (x + (1/2) / (x + (2/2) / (x + ...))).
  for (int k = 60; k > 0; --k)
    below = 0.5 * k / (a + below);
  return std::copysign(1 - bell / (a + below), x);
}

double sin(double x) { return x == 0 ? x : sin_turned(x, 0); }
double cos(double x) { return sin_turned(x, 1); }

double power(double base, int64_t n) {
  double result = 1;
  for (; n > 0; n >>= 1) {
    if (n & 1)
      result *= base;
    base *= base;
  }
  return result;
}

}  // namespace troupe::elementary
