// Initial values, each drawn from (seed, variable's name, element): independent of the order of creation.
#include "compute/parameters/initializers.hpp"

#include "compute/kernels/elementary.hpp"
#include "compute/kernels/random_lanes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

namespace troupe {
namespace {

/// fan_in and fan_out. For a matrix: its extents. For a kernel: the last two extents times its receptive field.
std::pair<double, double> fans(const shape& dims) {
  if (dims.rank() == 0)
    return {1, 1};
  if (dims.rank() == 1)
    return {static_cast<double>(dims[0]), static_cast<double>(dims[0])};
  double field = 1;
  for (int i = 0; i + 2 < dims.rank(); ++i)
    field *= static_cast<double>(dims[i]);
  return {field * static_cast<double>(dims[dims.rank() - 2]), field * static_cast<double>(dims[dims.rank() - 1])};
}

class draws {
 public:
  draws(uint64_t seed, std::string_view name) : key_(random::key(seed, "initializer", name)) {}

  double uniform(int64_t element) const {
    const auto bits = block(element, 0);
    return random::unit_double(bits[0], bits[1]);
  }
  /// Yields `uniform` of the elements [first, first + 8).
  void uniforms(int64_t first, double (&to)[8]) const {
    const auto e = static_cast<uint64_t>(first);
    if (static_cast<uint32_t>(e) > UINT32_MAX - 7)
      for (int64_t i = 0; i < 8; ++i)
        to[i] = uniform(first + i);
    else
      random::unit_doubles(random::philox8({static_cast<uint32_t>(e), static_cast<uint32_t>(e >> 32), 0, 0}, key_), to);
  }
  /// A standard normal number (Box and Muller 1958). `attempt` counts the draws for one element.
  double normal(int64_t element, uint32_t attempt) const {
    const auto bits = block(element, attempt);
    const double radius = std::sqrt(-2 * elementary::log(1 - random::unit_double(bits[0], bits[1])));
    return radius * elementary::cos(2 * std::numbers::pi * random::unit_double(bits[2], bits[3]));
  }
  double truncated(int64_t element) const {
    for (uint32_t attempt = 0;; ++attempt)
      if (const double x = normal(element, attempt); std::abs(x) <= 2)
        return x;
  }

 private:
  random::block block(int64_t element, uint32_t attempt) const {
    const auto e = static_cast<uint64_t>(element);
    return random::philox({static_cast<uint32_t>(e), static_cast<uint32_t>(e >> 32), attempt, 0}, key_);
  }
  uint64_t key_;
};

template <class T, class Draw>
void fill(T* x, int64_t n, Draw draw) {
  for (int64_t i = 0; i < n; ++i)
    x[i] = static_cast<T>(draw(i));
}

template <class T>
void fill_uniform(T* x, int64_t n, const draws& d, double least, double range) {
  double unit[8];
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    d.uniforms(i, unit);
    for (int64_t j = 0; j < 8; ++j)
      x[i + j] = static_cast<T>(least + range * unit[j]);
  }
  for (; i < n; ++i)
    x[i] = static_cast<T>(least + range * d.uniform(i));
}

/// Σ a·b, summed in an order that depends on the length only.
double dot(const double* a, const double* b, int64_t n) {
  constexpr int64_t width = 8;
  double lanes[width] = {};
  int64_t i = 0;
  for (; i + width <= n; i += width)
    for (int64_t j = 0; j < width; ++j)
      lanes[j] += a[i + j] * b[i + j];
  for (int64_t j = 0; i < n; ++i, ++j)
    lanes[j] += a[i] * b[i];
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

/// Random orthonormal vectors, uniformly distributed: the Q of a QR decomposition of normal numbers, with a positive
/// diagonal in R (Mezzadri 2007). By modified Gram-Schmidt, each vector twice, which leaves only rounding errors
/// (Parlett 1980). Not by Eigen's QR, which multiplies in blocks whose size, and hence the bits, depend on the
/// machine's caches.
std::vector<double> orthonormal(int64_t count, int64_t length, const draws& d) {
  std::vector<double> q(static_cast<size_t>(count * length));
  for (int64_t v = 0; v < count; ++v) {
    double* x = q.data() + v * length;
    for (int64_t i = 0; i < length; ++i)
      x[i] = d.normal(v * length + i, 0);
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t before = 0; before < v; ++before) {
        const double* y = q.data() + before * length;
        const double along = dot(x, y, length);
        for (int64_t i = 0; i < length; ++i)
          x[i] -= along * y[i];
      }
      const double norm = std::sqrt(dot(x, x, length));
      for (int64_t i = 0; i < length; ++i)
        x[i] /= norm;
    }
  }
  return q;
}

template <class T>
void fill_orthogonal(T* x, const shape& dims, double gain, const draws& d) {
  const int64_t columns = dims.rank() == 0 ? 1 : dims[dims.rank() - 1],
                rows = dims.elements() / std::max<int64_t>(1, columns);
  const bool wide = columns > rows;
  const int64_t count = wide ? rows : columns, length = wide ? columns : rows;
  const auto q = orthonormal(count, length, d);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      x[r * columns + c] = static_cast<T>(gain * q[static_cast<size_t>(wide ? r * length + c : c * length + r)]);
}

template <class T>
void fill_with(const parameter_entry& e, const draws& d, std::byte* to) {
  using kind = initializer::kind;
  T* x = reinterpret_cast<T*>(to);
  const int64_t n = e.dims.elements();
  const auto& i = e.initial;
  const auto [in, out] = fans(e.dims);
  const auto constant = [&](double c) { std::fill_n(x, n, static_cast<T>(c)); };
  const auto within = [&](double least, double greatest) { fill_uniform(x, n, d, least, greatest - least); };
  // The standard deviation of standard normal numbers whose tails beyond two are redrawn. Dividing by it restores a
  // deviation of 1.
  constexpr double left = 0.87962566103423978;
  const auto truncated = [&](double mean, double scale) {
    fill(x, n, [&d, mean, scale](int64_t at) { return mean + scale * d.truncated(at); });
  };
  switch (i.what) {
    case kind::zeros: return constant(0);
    case kind::ones: return constant(1);
    case kind::constant: return constant(i.a);
    case kind::uniform: return within(i.a, i.b);
    case kind::normal: return fill(x, n, [&](int64_t at) { return i.a + i.b * d.normal(at, 0); });
    case kind::truncated_normal: return truncated(i.a, i.b);
    case kind::glorot_uniform: return within(-std::sqrt(6 / (in + out)), std::sqrt(6 / (in + out)));
    case kind::glorot_normal: return truncated(0, std::sqrt(2 / (in + out)) / left);
    case kind::he_uniform: return within(-std::sqrt(6 / in), std::sqrt(6 / in));
    case kind::he_normal: return truncated(0, std::sqrt(2 / in) / left);
    case kind::lecun_uniform: return within(-std::sqrt(3 / in), std::sqrt(3 / in));
    case kind::lecun_normal: return truncated(0, std::sqrt(1 / in) / left);
    case kind::orthogonal: return fill_orthogonal(x, e.dims, i.a, d);
    case kind::values: std::memcpy(to, i.given.data(), static_cast<size_t>(i.given.byte_size()));
  }
}

}  // namespace

void initialise(const parameter_entry& e, uint64_t seed, std::byte* to) {
  const draws d{seed, e.name};
  switch (e.type) {
    case dtype::float32: return fill_with<float>(e, d, to);
    case dtype::float64: return fill_with<double>(e, d, to);
    case dtype::int32: return fill_with<int32_t>(e, d, to);
    case dtype::int64: return fill_with<int64_t>(e, d, to);
    case dtype::boolean: return fill_with<bool>(e, d, to);
    case dtype::uint8: return fill_with<uint8_t>(e, d, to);
  }
}

}  // namespace troupe
