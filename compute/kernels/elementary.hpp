// Elementary functions of single numbers for the arithmetic of models. They replace the C library's, whose bits depend
// on its version and on the processor: glibc has several variants of each and picks one when a program starts.
//
// They consist of operations that IEEE 754 rounds in one way only (+, -, *, /, fused multiply-add, square root) in a
// fixed order, so a build yields the same bits on every processor and with every C library. docs/numerics.md lists
// their users.
#pragma once

#include <cstdint>

namespace troupe::elementary {

// Accurate to a few units in the last place, with the C library's values at 0, infinities and NaN. A result below the
// normal range may be 0.
double exp(double x);
double expm1(double x);
double log(double x);
float log(float x);
double log1p(double x);
double tanh(double x);
double erf(double x);
double pow(double x, double y);
float pow(float x, float y);

/// x in radians. As accurate as the functions above for |x| < 2^20, beyond that to an absolute error of 2^-50 |x|.
double sin(double x);
double cos(double x);

/// base^n, n >= 0, by repeated squaring: accurate to n units in the last place; takes a few nanoseconds for any n.
double power(double base, int64_t n);

}  // namespace troupe::elementary
