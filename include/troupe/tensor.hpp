// Tensors: values with a dtype, a shape and a shared immutable buffer. Copying a tensor copies a pointer.
// Not needed to begin with.
//
//   auto x = tr::tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
//   for (float v : x.as<float>()) ...
//
// Elements are dense, in row-major order. Buffers are 64-byte aligned; a slice shares its parent's buffer and may start
// anywhere in it. Any thread may read a tensor. A buffer must not be written once it is shared.
#pragma once

#include <troupe/error.hpp>

#include <array>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>

namespace troupe {

enum class dtype : uint8_t { float32 = 1, float64, int32, int64, boolean, uint8 };

TROUPE_API std::string_view to_string(dtype type) noexcept;
/// The size of one element in bytes.
TROUPE_API int64_t size_of(dtype type) noexcept;

template <class T>
struct dtype_of;
template <>
struct dtype_of<float> {
  static constexpr dtype value = dtype::float32;
};
template <>
struct dtype_of<double> {
  static constexpr dtype value = dtype::float64;
};
template <>
struct dtype_of<int32_t> {
  static constexpr dtype value = dtype::int32;
};
template <>
struct dtype_of<int64_t> {
  static constexpr dtype value = dtype::int64;
};
template <>
struct dtype_of<bool> {
  static constexpr dtype value = dtype::boolean;
};
template <>
struct dtype_of<uint8_t> {
  static constexpr dtype value = dtype::uint8;
};

/// The extents of a tensor, outermost first, at most `max_rank`. A scalar has rank 0.
class TROUPE_API shape {
 public:
  static constexpr int max_rank = 8;

  shape() = default;
  shape(std::initializer_list<int64_t> extents) : shape(std::span<const int64_t>{extents.begin(), extents.size()}) {}
  explicit shape(std::span<const int64_t> extents);

  int rank() const noexcept { return rank_; }
  int64_t operator[](int axis) const noexcept {
    assert(axis >= 0 && axis < rank_);
    return extents_[static_cast<size_t>(axis)];
  }
  std::span<const int64_t> extents() const noexcept { return {extents_.data(), static_cast<size_t>(rank_)}; }
  /// The product of the extents; 1 for a scalar.
  int64_t elements() const noexcept;
  /// This shape with `extent` before (prepend) or after (append) all others.
  shape prepend(int64_t extent) const;
  shape append(int64_t extent) const;
  /// This shape without its outermost extent.
  shape inner() const;

  friend bool operator==(const shape&, const shape&) = default;

 private:
  std::array<int64_t, max_rank> extents_{};
  int rank_ = 0;
};

/// "[128, 10]"; "[]" for a scalar.
TROUPE_API std::string to_text(const shape& s);

class TROUPE_API tensor {
 public:
  /// A float32 tensor of shape [0], without a buffer.
  tensor() = default;
  /// Shares ownership of `bytes`, which hold `dims.elements()` values of `type`.
  tensor(dtype type, shape dims, std::shared_ptr<const std::byte> bytes);

  /// A new tensor of zeros.
  static tensor zeros(dtype type, const shape& dims);
  /// A new tensor with a copy of `values`, as many as the shape has elements (asserted).
  template <class T>
  static tensor of(const shape& dims, std::span<const T> values) {
    assert(static_cast<int64_t>(values.size()) == dims.elements());
    return copy_of(dtype_of<T>::value, dims, std::as_bytes(values));
  }
  template <class T>
  static tensor of(const shape& dims, std::initializer_list<T> values) {
    return of<T>(dims, std::span<const T>{values.begin(), values.size()});
  }
  template <class T>
  static tensor scalar(T value) {
    return of<T>({}, {value});
  }
  static tensor copy_of(dtype type, const shape& dims, std::span<const std::byte> bytes);

  dtype type() const noexcept { return type_; }
  const shape& dims() const noexcept { return dims_; }
  int64_t elements() const noexcept { return dims_.elements(); }
  int64_t byte_size() const noexcept { return elements() * size_of(type_); }
  const std::byte* data() const noexcept { return bytes_.get(); }
  std::span<const std::byte> bytes() const noexcept { return {bytes_.get(), static_cast<size_t>(byte_size())}; }
  const std::shared_ptr<const std::byte>& buffer() const noexcept { return bytes_; }

  /// The values; `T` must be the tensor's dtype (asserted).
  template <class T>
  std::span<const T> as() const noexcept {
    assert(dtype_of<T>::value == type_);
    return {reinterpret_cast<const T*>(bytes_.get()), static_cast<size_t>(elements())};
  }

  /// Rows [first, first + count) of axis 0, sharing the buffer.
  tensor slice(int64_t first, int64_t count) const;
  /// The same buffer under another shape with as many elements (asserted).
  tensor reshape(const shape& dims) const;

  /// Whether dtype, shape and bytes are equal.
  friend TROUPE_API bool operator==(const tensor& a, const tensor& b) noexcept;

 private:
  dtype type_ = dtype::float32;
  shape dims_ = {0};
  std::shared_ptr<const std::byte> bytes_;
};

/// A new, writable, uninitialised buffer of `bytes` bytes, 64-byte aligned. Null if there is not enough memory.
TROUPE_API std::shared_ptr<std::byte> allocate_buffer(int64_t bytes);

}  // namespace troupe
