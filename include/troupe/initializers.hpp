// Initial values of variables: zeros, constants, and the usual random ones.
// Not needed to begin with.
//
// Layers choose one for each variable, and options name it: `init::he_normal()`.
#pragma once

#include <troupe/tensor.hpp>

namespace troupe {

/// The initial value of a variable. It is drawn by seed and variable name, so it does not depend on the order of
/// creation. fan_in and fan_out of a matrix are its extents [in, out]; of a convolution kernel [..., in, out] they are
/// the last two, each multiplied by the product of all extents before them; of a vector, both are its extent.
struct initializer {
  enum class kind : uint8_t {
    zeros,
    ones,
    constant,
    uniform,
    normal,
    truncated_normal,
    glorot_uniform,
    glorot_normal,
    he_uniform,
    he_normal,
    lecun_uniform,
    lecun_normal,
    orthogonal,
    values
  } what = kind::zeros;
  double a = 0;       ///< constant: the value; uniform: least; normal: mean; orthogonal: gain.
  double b = 1;       ///< uniform: greatest; normal: standard deviation.
  tensor given = {};  ///< values: the elements.
};
namespace init {
inline initializer zeros() { return {initializer::kind::zeros}; }
inline initializer ones() { return {initializer::kind::ones}; }
inline initializer constant(double value) { return {initializer::kind::constant, value}; }
inline initializer uniform(double least, double greatest) { return {initializer::kind::uniform, least, greatest}; }
inline initializer normal(double mean, double deviation) { return {initializer::kind::normal, mean, deviation}; }
/// Normal; values beyond two deviations are drawn again.
inline initializer truncated_normal(double mean, double deviation) {
  return {initializer::kind::truncated_normal, mean, deviation};
}
/// U(-l, l), l = sqrt(6 / (fan_in + fan_out)). Glorot & Bengio 2010, eq. 16.
inline initializer glorot_uniform() { return {initializer::kind::glorot_uniform}; }
inline initializer glorot_normal() { return {initializer::kind::glorot_normal}; }
/// U(-l, l), l = sqrt(6 / fan_in). He et al. 2015, eq. 10.
inline initializer he_uniform() { return {initializer::kind::he_uniform}; }
inline initializer he_normal() { return {initializer::kind::he_normal}; }
/// U(-l, l), l = sqrt(3 / fan_in): variance 1 / fan_in. LeCun et al. 1998, "Efficient BackProp", eq. 16.
inline initializer lecun_uniform() { return {initializer::kind::lecun_uniform}; }
/// The same variance, truncated normal.
inline initializer lecun_normal() { return {initializer::kind::lecun_normal}; }
/// gain × a random matrix with orthonormal columns, or orthonormal rows if there are fewer rows than columns; uniformly
/// distributed. All axes but the last count as rows. Floating, at least two axes. Saxe et al. 2014.
inline initializer orthogonal(double gain = 1) { return {initializer::kind::orthogonal, gain}; }
/// The elements of `start`, such as embeddings learnt elsewhere; the seed has no effect. A variable of another dtype or
/// shape is an error of the graph. The graph shares the tensor's buffer while it lives.
inline initializer values(tensor start) { return {.what = initializer::kind::values, .given = std::move(start)}; }
}  // namespace init

}  // namespace troupe
