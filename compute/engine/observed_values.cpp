#include "compute/engine/observed_values.hpp"

#include "compute/engine/loss_meter.hpp"

#include <cstring>

namespace troupe {

namespace {

/// Whether the values of all shards can be joined: one dtype and shape. With `per_row` the number of rows may differ;
/// without it the dtype must be floating.
bool agree(const std::vector<std::vector<tensor>>& sets, size_t which, bool per_row) {
  const tensor& first = sets.front()[which];
  for (const auto& set : sets) {
    const tensor& x = set[which];
    if (x.type() != first.type() || x.dims().rank() != first.dims().rank() || (per_row && x.dims().rank() == 0))
      return false;
    if (per_row ? x.dims().inner() != first.dims().inner() : x.dims() != first.dims())
      return false;
  }
  return per_row || first.type() == dtype::float32 || first.type() == dtype::float64;
}

tensor joined_rows(const std::vector<std::vector<tensor>>& sets, size_t which) {
  std::vector<tensor> parts;
  for (const auto& set : sets)
    parts.push_back(set[which]);
  return join_rows(parts);
}

template <class T>
tensor mean_of(const std::vector<std::vector<tensor>>& sets, size_t which) {
  const tensor& first = sets.front()[which];
  auto bytes = allocate_buffer(first.byte_size());
  if (!bytes)
    return {};
  auto* means = reinterpret_cast<T*>(bytes.get());
  std::vector<double> of_shards(sets.size());
  for (int64_t i = 0; i < first.elements(); ++i) {
    for (size_t s = 0; s < sets.size(); ++s)
      of_shards[s] = static_cast<double>(sets[s][which].as<T>()[static_cast<size_t>(i)]);
    means[i] = static_cast<T>(tree_mean(of_shards));
  }
  return {first.type(), first.dims(), std::move(bytes)};
}

}  // namespace

tensor join_rows(std::span<const tensor> parts) {
  const tensor& first = parts.front();
  int64_t rows = 0;
  for (const auto& part : parts)
    rows += part.dims()[0];
  const shape dims = first.dims().inner().prepend(rows);
  auto bytes = allocate_buffer(dims.elements() * size_of(first.type()));
  if (!bytes)
    return {};
  int64_t at = 0;
  for (const auto& part : parts) {
    std::memcpy(bytes.get() + at, part.data(), static_cast<size_t>(part.byte_size()));
    at += part.byte_size();
  }
  return {first.type(), dims, std::move(bytes)};
}

std::vector<tensor> join_observed(const std::vector<observable>& observables,
                                  const std::vector<std::vector<tensor>>& sets) {
  std::vector<tensor> values(observables.size());
  for (const auto& set : sets)
    if (set.size() != observables.size())
      return values;
  if (sets.empty())
    return values;
  for (size_t i = 0; i < observables.size(); ++i)
    if (!agree(sets, i, observables[i].per_row))
      continue;
    else if (observables[i].per_row)
      values[i] = joined_rows(sets, i);
    else
      values[i] = sets.front()[i].type() == dtype::float64 ? mean_of<double>(sets, i) : mean_of<float>(sets, i);
  return values;
}

}  // namespace troupe
