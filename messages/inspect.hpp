// Serialisation of public types (include/): tensors as raw bytes, the others field by field.
#pragma once

#include "words/checkpoint_id.hpp"

#include <troupe/tensor.hpp>

#include <caf/error.hpp>
#include <caf/meta/load_callback.hpp>
#include <caf/meta/type_name.hpp>
#include <caf/sec.hpp>

#include <map>
#include <utility>

namespace troupe {

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, tensor& x) {
  auto type = static_cast<uint8_t>(x.type());
  std::vector<int64_t> dims{x.dims().extents().begin(), x.dims().extents().end()};
  std::string bytes;  // One copy in each direction: copying element by element would be eight times slower.
  if constexpr (Inspector::reads_state)
    bytes.assign(reinterpret_cast<const char*>(x.data()), static_cast<size_t>(x.byte_size()));
  auto load = [&]() -> caf::error {
    int64_t elements = 1;
    for (int64_t extent : dims)
      if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements))
        return caf::sec::runtime_error;
    const int64_t width = size_of(static_cast<dtype>(type));
    if (dims.size() > shape::max_rank || width == 0 || elements != static_cast<int64_t>(bytes.size()) / width
        || static_cast<int64_t>(bytes.size()) % width != 0)
      return caf::sec::runtime_error;
    x = tensor::copy_of(static_cast<dtype>(type), shape{std::span<const int64_t>{dims}},
                        std::as_bytes(std::span<const char>{bytes}));
    return caf::none;
  };
  return f(caf::meta::type_name("tensor"), type, dims, bytes, caf::meta::load_callback(load));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, checkpoint_id& x) {
  return f(caf::meta::type_name("checkpoint_id"), x.step, x.iteration);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, checkpoint_choice& x) {
  return f(caf::meta::type_name("checkpoint_choice"), x.step, x.iteration, x.best);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, error& x) {
  auto category = static_cast<uint8_t>(x.category);
  bool has_step = x.step.has_value();
  int64_t step = x.step.value_or(0);
  auto load = [&]() -> caf::error {
    x.category = static_cast<errc>(category);
    x.step = has_step ? std::optional<int64_t>{step} : std::nullopt;
    return caf::none;
  };
  return f(caf::meta::type_name("error"), category, x.message, x.notes, x.source, has_step, step,
           caf::meta::load_callback(load));
}

}  // namespace troupe
