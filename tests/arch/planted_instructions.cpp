// Instructions that instructions_test.py must find, and others that only look similar.
#include <cmath>

namespace planted {

void root() { asm volatile("vrsqrtps %%ymm0, %%ymm0" : : : "xmm0"); }
void reciprocal() { asm volatile("vrcpps %%ymm0, %%ymm0" : : : "xmm0"); }
void one() { asm volatile("rcpss %%xmm0, %%xmm0" : : : "xmm0"); }
void wide_root() { asm volatile("vrsqrt14pd %%zmm0, %%zmm0" : : : "xmm0"); }
void wide_reciprocal() { asm volatile("vrcp14ps %%zmm0, %%zmm0" : : : "xmm0"); }

// Exact by IEEE 754, and therefore allowed.
double rsqrt_exact(double x) { return 1 / std::sqrt(x); }
double rcp_of(double x) { return std::floor(1 / x); }

double bent(double x, float y) { return std::tanh(x) + static_cast<double>(std::pow(y, 2.5f)); }

}  // namespace planted
