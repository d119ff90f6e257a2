// The interface between plan and arithmetic: a kernel call is a plain function over operands resolved by the planner.
//
// An operand is base + offset; bases are passed for each run. Kernels neither allocate nor lock, and their results
// depend on their operands' values and extents only, never on addresses.
#pragma once

#include "compute/kernels/recording.hpp"

namespace troupe {

/// Indices into `run_state::bases`; the feeds follow from `base_feeds` on.
enum base : int32_t { base_arena, base_parameters, base_shared, base_gradient, base_feeds };

struct operand {
  int32_t base = base_arena;
  int64_t offset = -1;  ///< -1: absent.
};

/// The state of one run, beside its operands.
struct run_state {
  std::byte* const* bases = nullptr;
  int64_t step = 0;
  int32_t shard = 0;
  /// The first bad element, if there is one: an index outside [0, limit), or a non-finite number where a finite one is
  /// required.
  struct bad_element {
    const struct kernel_call* call = nullptr;  ///< Null: there is none.
    int64_t index = 0, value = 0, limit = 0;
    double number = 0;
  } bad;
};

/// The loops of a strided walk: extents, and each operand's strides in elements.
struct walk {
  static constexpr int operands_max = 3;
  int rank = 0;
  int64_t extent[8] = {};
  int64_t stride[operands_max][8] = {};
};

struct kernel_call {
  void (*run)(const kernel_call& c, run_state& s) = nullptr;
  operand at[6];      ///< Their order depends on the kernel.
  int64_t n[7] = {};  ///< Extents.
  int64_t first = 0;  ///< The index of the share's first item in the whole call, which offsets counters and positions.
  double number = 0, number2 = 0;
  uint64_t key = 0;
  uint32_t flags = 0;
  recording_set recording = 0;               ///< Skipped in runs that record none of these; 0: in no run.
  const struct walk* strides = nullptr;      ///< Owned by the plan.
  const struct fused_body* fused = nullptr;  ///< Owned by the plan.
  const struct convolution* convolution = nullptr;
  const struct row_lookups* lookups = nullptr;

  template <class T>
  T* to(const run_state& s, int i) const {
    return reinterpret_cast<T*>(s.bases[at[i].base] + at[i].offset);
  }
  template <class T>
  T* maybe(const run_state& s, int i) const {
    return at[i].offset < 0 ? nullptr : to<T>(s, i);
  }
};

/// Whether all n indices are in [0, limit). Records the first one that is not in `s.bad`, unless that holds one
/// already.
template <class Index>
bool indices_fit(const kernel_call& c, run_state& s, const Index* indices, int64_t n, int64_t limit) {
  bool all = true;
  for (int64_t i = 0; i < n; ++i)
    all &= static_cast<uint64_t>(indices[i]) < static_cast<uint64_t>(limit);
  for (int64_t i = 0; !all && !s.bad.call; ++i)
    if (static_cast<uint64_t>(indices[i]) >= static_cast<uint64_t>(limit))
      s.bad = {.call = &c, .index = c.first + i, .value = static_cast<int64_t>(indices[i]), .limit = limit};
  return all;
}

using kernel_function = void (*)(const kernel_call&, run_state&);

}  // namespace troupe
