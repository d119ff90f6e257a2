// Functions of single numbers for the arithmetic of models, in place of the C library's, whose bits are its version's and the
// processor's choice: glibc has several of each and takes one when a program starts.
//
// They are made of operations that IEEE 754 rounds in one way only (+, -, *, /, fused multiply-add, square root) in a fixed order, so
// that a build has the same bits on every processor it runs on and beside every C library. docs/numerics.md lists who uses what.
#pragma once

#include <cstdint>

namespace troupe::elementary {

// To a few units in the last place, with the C library's values at 0, infinities and NaN; what would be less than any normal number may be 0.
double exp(double x);
double expm1(double x);
double log(double x);
float log(float x);
double log1p(double x);
double tanh(double x);
double erf(double x);
double pow(double x, double y);
float pow(float x, float y);

/// Radians; as exact as the others for |x| < 2^20, beyond that to an absolute error of 2^-50 |x|.
double sin(double x);
double cos(double x);

/// base^n, n >= 0, by repeated squaring: to n units in the last place of the result, and a few nanoseconds whatever n.
double power(double base, int64_t n);

}  // namespace troupe::elementary
