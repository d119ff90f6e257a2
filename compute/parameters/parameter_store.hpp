// Storage of variables and optimizer slots by name: one arena, in a layout fixed by the training graph.
//
// The trainable variables of one dtype are adjacent, each padded to 64 bytes, and form one flat vector. Every slot of
// the optimizer is a vector of the same layout, and so is the gradient. If variable groups have update rules of their
// own, there is one such vector for each dtype and rule. Hence one fused sweep per rule updates everything, a replica's
// slice is a range of that vector, and slices need not respect the boundaries of variables. Values that the model
// assigns to other variables (graph::assign) follow the gradient in the same vector. They are reduced and checked like
// it, and stored as they are.
// If a variable is only looked up (gather along its first axis), most rows of its gradient are zeros. Bits at the end
// of the vector, one per row, mark the rows that may differ from zero, so that work grows with the rows that occur and
// not with the table.
// Programs address an arena as base + offset. A store has up to two arenas: while a snapshot holds one, the next step
// writes its update into the other. Variables that no step updates are in a separate part that all arenas share.
// Carried states (graph::state) follow the vectors in the arena: a row for each example of the batch, which belongs to
// the replica that computes that row. No gradient and no update touches them.
#pragma once

#include <troupe/graph.hpp>
#include <troupe/optimizer.hpp>

#include <span>

namespace troupe {

/// One stored variable or slot.
struct parameter_entry {
  std::string name;  ///< "dense/kernel", "dense/kernel/Adam"
  dtype type = dtype::float32;
  shape dims;
  bool trainable = false;
  bool slot = false;
  bool updated = true;   ///< False: no step writes it; it lies in the shared part.
  bool carried = false;  ///< A carried state, with a row for each example of the whole batch.
  combine replicas = combine::mean;
  initializer initial;
  int64_t offset = 0;               ///< Bytes from the arena's base (updated), or from the shared part's.
  int64_t gradient_offset = -1;     ///< Bytes from the gradient vector's base; -1 unless trainable or assigned.
  int32_t variable = -1;            ///< slot: index of its variable's entry.
  bool starts_as_variable = false;  ///< slot: starts as a copy of its variable instead of `initial`.
};

/// Size of the entry with the padding up to the next entry of its vector.
int64_t padded_bytes(const parameter_entry& e);

/// A range of elements of one entry.
struct parameter_piece {
  int32_t entry = 0;
  int64_t first = 0;
  int64_t count = 0;
};

/// The trainable variables of one dtype under one rule: bytes [first, last) of the gradient vector, and the offsets in
/// an arena of the vectors of the same layout: variables, then each slot. Or, if `assigned`, the variables of one dtype
/// that the model assigns: their bytes are no gradient but their next values, and they have no slots.
struct gradient_range {
  dtype type = dtype::float32;
  int64_t first = 0, last = 0;
  int64_t variables = 0;
  std::vector<int64_t> slots;
  bool assigned = false;
  int32_t rule = -1;  ///< The variable group whose rule updates them; -1: the optimizer's own.
};

/// A variable that the model reads only by gather along its first axis. The gradient has one bit for each of its rows.
/// A row whose bit is 0 holds zeros; every writer of a gradient ensures that. So a gradient of zeros is valid, and if
/// all bits are 1, the rows may hold anything.
struct sparse_rows {
  int32_t entry = 0;
  dtype type = dtype::float32;
  int64_t first = 0, last = 0;  ///< Bytes of the gradient vector, with the padding.
  int64_t rows = 0, row_bytes = 0;
  int64_t bits = 0;  ///< Offset in that vector of the bits: words of 64 rows each, the first row in the lowest bit.
};

struct graph_state;  // In compute/graph/graph.hpp.

class parameter_layout {
 public:
  /// The layout for a training graph: its variables, with the optimizer's slots. Variables that the optimizer freezes
  /// have no slots, as if they were not trainable. A graph without an optimizer (evaluation, prediction) gives a layout
  /// of its variables only, none of them updated. `batch_rows`: of the whole batch, for the carried states; 0: the
  /// layout has none of these. invalid_argument also if a group of the optimizer matches no trainable variable.
  static expected<parameter_layout> of(const graph& g, const std::optional<optimizer>& o, int64_t batch_rows = 0);

  std::span<const parameter_entry> entries() const noexcept { return entries_; }
  /// The index of the entry called `name`; -1 if there is none.
  int32_t find(std::string_view name) const;
  /// Whether loading a checkpoint for reading replaces variables by their moving averages, where they have one.
  bool reads_averages() const noexcept { return reads_averages_; }
  void read_averages() noexcept { reads_averages_ = true; }
  int64_t arena_bytes() const noexcept { return arena_bytes_; }
  int64_t shared_bytes() const noexcept { return shared_bytes_; }
  /// The flat vectors, one for each dtype and rule.
  std::span<const gradient_range> ranges() const noexcept { return ranges_; }
  /// The variables with sparse gradients, in the order of the vector. None is under a rule that needs whole variables.
  std::span<const sparse_rows> sparse() const noexcept { return sparse_; }
  /// Size of the flat gradient without its bits, a multiple of 64: where the bits begin.
  int64_t flat_bytes() const noexcept { return flat_bytes_; }
  /// Size of the flat gradient with the bits at its end, a multiple of 64.
  int64_t gradient_bytes() const noexcept { return gradient_bytes_; }

  /// The bytes [first, last) of the gradient vector that replica `r` of `R` owns. Slices are disjoint and 64-byte
  /// aligned, and together are everything except the bits. They consist of whole variables if the optimizer needs that.
  /// Replica 0 also owns the part that no step writes.
  std::pair<int64_t, int64_t> slice(int r, int R) const;
  /// The same slice as ranges of entries, slots included, with replica r's rows of the carried states: the content of
  /// its snapshot part.
  std::vector<parameter_piece> pieces(int r, int R) const;

 private:
  expected<void> add_states(std::span<const graph_state> states, int64_t rows);
  void sort_names();

  std::vector<parameter_entry> entries_;
  std::vector<int32_t> by_name_;  ///< Entries sorted by name.
  std::vector<gradient_range> ranges_;
  std::vector<sparse_rows> sparse_;
  int64_t arena_bytes_ = 0, shared_bytes_ = 0, flat_bytes_ = 0, gradient_bytes_ = 0;
  bool whole_variables_ = false, reads_averages_ = false;
};

class parameter_store {
 public:
  /// Allocates `arenas` (1 or 2) arenas and touches every page. resource_exhausted if memory cannot be allocated.
  static expected<std::shared_ptr<parameter_store>> create(parameter_layout layout, int arenas);

  const parameter_layout& layout() const noexcept;
  /// The base that programs address. An arena holds only what steps update.
  std::byte* arena(int index) noexcept;
  const std::byte* arena(int index) const noexcept;
  std::byte* shared() noexcept;
  const std::byte* shared() const noexcept;
  int arenas() const noexcept;

  /// Fills arena 0 and the shared part from the entries' initialisers, keyed by (seed, name).
  void initialise(uint64_t seed);
  /// Writes one entry of arena 0. Errors: not_found; invalid_argument, naming both shapes or dtypes.
  expected<void> assign(std::string_view name, const tensor& value);
  /// A tensor over the memory of one entry in an arena. It shares ownership of the store, so it stays valid as long as
  /// it is held, and is constant as long as nobody writes to that arena.
  tensor view(int arena, int32_t entry) const;
  /// A range of an entry, as a tensor of rank 1.
  tensor view(int arena, const parameter_piece& piece) const;

 private:
  struct impl;
  explicit parameter_store(std::unique_ptr<impl> i);
  std::shared_ptr<impl> impl_;
};

}  // namespace troupe
