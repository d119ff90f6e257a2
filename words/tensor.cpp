#include "words/text.hpp"
#include "words/zeroed_buffer.hpp"

#include <troupe/tensor.hpp>

#include <new>

namespace troupe {

std::string_view to_string(dtype type) noexcept {
  switch (type) {
    case dtype::float32: return "float32";
    case dtype::float64: return "float64";
    case dtype::int32: return "int32";
    case dtype::int64: return "int64";
    case dtype::boolean: return "boolean";
    case dtype::uint8: return "uint8";
  }
  return "unknown";
}

int64_t size_of(dtype type) noexcept {
  switch (type) {
    case dtype::float32:
    case dtype::int32: return 4;
    case dtype::float64:
    case dtype::int64: return 8;
    case dtype::boolean:
    case dtype::uint8: return 1;
  }
  return 0;
}

shape::shape(std::span<const int64_t> extents) : rank_(static_cast<int>(extents.size())) {
  assert(rank_ <= max_rank);
  for (size_t i = 0; i < extents.size(); ++i)
    extents_[i] = extents[i];
}

int64_t shape::elements() const noexcept {
  int64_t n = 1;
  for (int64_t e : extents())
    n *= e;
  return n;
}

shape shape::prepend(int64_t extent) const {
  assert(rank_ < max_rank);
  shape s;
  s.rank_ = rank_ + 1;
  s.extents_[0] = extent;
  for (int i = 0; i < rank_; ++i)
    s.extents_[static_cast<size_t>(i) + 1] = extents_[static_cast<size_t>(i)];
  return s;
}

shape shape::append(int64_t extent) const {
  assert(rank_ < max_rank);
  shape s = *this;
  s.extents_[static_cast<size_t>(s.rank_++)] = extent;
  return s;
}

shape shape::inner() const {
  assert(rank_ > 0);
  return shape{extents().subspan(1)};
}

std::string to_text(const shape& s) { return "[" + joined(s.extents()) + "]"; }

tensor::tensor(dtype type, shape dims, std::shared_ptr<const std::byte> bytes)
  : type_(type), dims_(dims), bytes_(std::move(bytes)) {}

tensor tensor::zeros(dtype type, const shape& dims) {
  const int64_t size = dims.elements() * size_of(type);
  auto buffer = allocate_zeroed_buffer(size);
  if (!buffer)
    throw std::bad_alloc();
  return {type, dims, std::move(buffer)};
}

tensor tensor::copy_of(dtype type, const shape& dims, std::span<const std::byte> bytes) {
  assert(static_cast<int64_t>(bytes.size()) == dims.elements() * size_of(type));
  auto buffer = allocate_buffer(static_cast<int64_t>(bytes.size()));
  if (!buffer)
    throw std::bad_alloc();
  if (!bytes.empty())
    std::memcpy(buffer.get(), bytes.data(), bytes.size());
  return {type, dims, std::move(buffer)};
}

tensor tensor::slice(int64_t first, int64_t count) const {
  assert(dims_.rank() > 0 && first >= 0 && count >= 0 && first + count <= dims_[0]);
  const shape row = dims_.inner();
  std::shared_ptr<const std::byte> start{bytes_, bytes_.get() + first * row.elements() * size_of(type_)};
  return {type_, row.prepend(count), std::move(start)};
}

tensor tensor::reshape(const shape& dims) const {
  assert(dims.elements() == elements());
  return {type_, dims, bytes_};
}

bool operator==(const tensor& a, const tensor& b) noexcept {
  return a.type_ == b.type_ && a.dims_ == b.dims_
         && (a.bytes_ == b.bytes_ || a.byte_size() == 0
             || (a.bytes_ && b.bytes_ && std::memcmp(a.data(), b.data(), static_cast<size_t>(a.byte_size())) == 0));
}

}  // namespace troupe
