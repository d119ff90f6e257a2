// Counts the allocations of this program.
#pragma once

#include <troupe/dataset_iterator.hpp>

#include <doctest/doctest.h>

#include <cstdint>

namespace troupe {

int64_t allocations();

/// Checks that a hundred batches are read, and that none of them allocates.
inline void check_no_allocations(dataset_iterator& it, std::span<std::byte* const> into) {
  const int64_t before = allocations();
  bool read_all = true;
  for (int i = 0; i < 100; ++i)
    read_all = it.read(into, {}) && read_all;
  CHECK(allocations() == before);
  CHECK(read_all);
}

}  // namespace troupe
