#include "compute/parameter_store.hpp"

#include "compute/graph.hpp"
#include "compute/optimizers/update.hpp"

#include <algorithm>

namespace troupe {
namespace {

constexpr int64_t line = 64;

int64_t padded(int64_t bytes) { return (bytes + line - 1) / line * line; }

/// The next start of a vector: vectors that are walked together must not begin at equal page offsets, where their
/// cache lines would compete for the same sets.
int64_t staggered(int64_t offset, int index) {
  constexpr int64_t page = 4096;
  const int64_t want = index * 17 * line % page;
  return offset + ((want - offset) % page + page) % page;
}

}  // namespace

expected<parameter_layout> parameter_layout::of(const graph& g, const std::optional<optimizer>& o) {
  if (auto status = g.status(); !status)
    return fail(status.error());
  if (o)
    if (auto valid = validate(*o); !valid)
      return fail(valid.error());
  parameter_layout layout;
  const auto slots = o ? slot_names(*o) : std::vector<std::string_view>{};
  int vectors = 0;
  for (dtype type : {dtype::float32, dtype::float64}) {
    const size_t first = layout.entries_.size();
    int64_t length = 0;
    for (const auto& v : g.internals().variables) {
      const auto& options = v.options;
      if (!o || !options.trainable || options.type != type)
        continue;
      layout.entries_.push_back({options.name, type, options.dims, true, false, true, options.replicas, options.initial, length,
                                 layout.gradient_bytes_ + length});
      length += padded(options.dims.elements() * size_of(type));
    }
    const size_t last = layout.entries_.size();
    if (first == last)
      continue;
    gradient_run run{type, layout.gradient_bytes_, layout.gradient_bytes_ + length, 0, {}};
    layout.gradient_bytes_ += length;
    for (size_t vector = 0; vector <= slots.size(); ++vector) {
      const int64_t start = staggered(layout.arena_bytes_, vectors++);
      if (vector == 0)
        run.variables = start;
      else
        run.slots.push_back(start);
      for (size_t i = first; i < last; ++i) {
        if (vector == 0) {
          layout.entries_[i].offset += start;
          continue;
        }
        parameter_entry slot = layout.entries_[i];
        slot.offset += start - layout.entries_[first].offset;
        slot.name += "/" + std::string{slots[vector - 1]};
        slot.slot = true;
        slot.trainable = false;
        slot.initial = init::zeros();
        slot.gradient_offset = -1;
        layout.entries_.push_back(std::move(slot));
      }
      layout.arena_bytes_ = start + length;
    }
    layout.runs_.push_back(std::move(run));
  }
  for (const auto& v : g.internals().variables) {
    const auto& options = v.options;
    if (o && options.trainable)
      continue;
    layout.entries_.push_back({options.name, options.type, options.dims, options.trainable, false, false, options.replicas, options.initial,
                               layout.shared_bytes_, -1});
    layout.shared_bytes_ += padded(options.dims.elements() * size_of(options.type));
  }
  for (size_t i = 0; i < layout.entries_.size(); ++i)
    if (const auto& name = layout.entries_[i].name; layout.find(name) != static_cast<int32_t>(i))
      return fail(errc::invalid_argument, "two variables or slots are named '" + name + "'");
  return layout;
}

int32_t parameter_layout::find(std::string_view name) const {
  for (size_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].name == name)
      return static_cast<int32_t>(i);
  return -1;
}

std::pair<int64_t, int64_t> parameter_layout::slice(int r, int R) const {
  // Whole cache lines, shared out as evenly as they can be.
  const int64_t lines = gradient_bytes_ / line;
  return {lines * r / R * line, lines * (r + 1) / R * line};
}

std::vector<parameter_piece> parameter_layout::pieces(int r, int R) const {
  const auto [first, last] = slice(r, R);
  std::vector<parameter_piece> runs;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const auto& e = entries_[i];
    const int64_t count = e.dims.elements(), size = size_of(e.type);
    int64_t at = e.gradient_offset;
    if (e.slot)  // "dense/kernel/Adam" follows "dense/kernel".
      at = entries_[static_cast<size_t>(find(std::string_view{e.name}.substr(0, e.name.rfind('/'))))].gradient_offset;
    if (at < 0) {
      if (r == 0)
        runs.push_back({static_cast<int32_t>(i), 0, count});
      continue;
    }
    const int64_t from = std::clamp<int64_t>(first - at, 0, count * size) / size;
    const int64_t to = std::clamp<int64_t>(last - at, 0, count * size) / size;
    if (from < to)
      runs.push_back({static_cast<int32_t>(i), from, to - from});
  }
  return runs;
}

}  // namespace troupe
