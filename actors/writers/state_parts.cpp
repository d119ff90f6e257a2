#include "actors/writers/state_parts.hpp"

#include <algorithm>

namespace troupe {

state_parts::state_parts(stored_groups groups, std::vector<named_tensor> tensors, int64_t part_bytes) : part_bytes_(part_bytes) {
  for (const auto& group : groups)
    for (auto& t : tensors)
      if (const auto* entry = find_entry(group, t.name); entry && t.value.elements() > 0)
        left_.push_back({group.group, entry->trainable, {t.name, std::move(t.value)}});
}

state_parts::state_parts(stored_groups groups, uint64_t seed, std::vector<named_tensor> tensors, int64_t part_bytes)
  : state_parts(groups, std::move(tensors), part_bytes) {
  seed_ = seed;
  for (const auto& group : groups)
    initial_.push_back(group.group);
}

state_parts::state_parts(stored_groups groups, std::unique_ptr<checkpoint_reader> from, int64_t part_bytes)
  : reader_(std::move(from)), part_bytes_(part_bytes) {
  for (const auto& t : reader_->info().tensors) {
    auto& place = places_.emplace_back();
    for (const auto& group : groups)
      if (const auto* entry = find_entry(group, t.name)) {
        const auto extents = t.dims.extents();
        place = {group.group, {t.name, {extents.begin(), extents.end()}, 0, entry->trainable, {}}};
      }
  }
}

expected<std::optional<state_parts::addressed>> state_parts::next() {
  if (!initial_.empty()) {
    addressed one{initial_.front(), {.initial = true, .seed = seed_}};
    initial_.pop_front();
    return one;
  }
  constexpr int64_t element_max = 8;
  std::optional<addressed> one;
  for (int64_t room = part_bytes_; !one || room >= element_max;) {
    auto found = held_ ? std::exchange(held_, std::nullopt) : next_run(room);
    if (!found)
      return fail(std::move(found.error()));
    auto& next = *found;
    if (!next)
      break;
    if (one && next->to != one->to) {
      held_ = std::move(next);
      break;
    }
    if (!one)
      one.emplace(addressed{next->to, {}});
    room -= next->piece.elements.byte_size();
    one->part.pieces.push_back(std::move(next->piece));
  }
  return one;
}

expected<std::optional<state_parts::run>> state_parts::next_run(int64_t bytes) {
  if (reader_)
    return read_run(bytes);
  if (left_.empty())
    return std::nullopt;
  const auto& [group, trainable, from] = left_.front();
  const auto& value = from.value;
  const int64_t width = size_of(value.type());
  const int64_t count = std::min(value.elements() - first_, std::max(bytes / width, int64_t{1}));
  const auto extents = value.dims().extents();
  run made{group, {from.name, {extents.begin(), extents.end()}, first_, trainable,
                   tensor{value.type(), shape{count}, {value.buffer(), value.data() + first_ * width}}}};
  first_ += count;
  if (first_ == value.elements()) {
    first_ = 0;
    left_.pop_front();
  }
  return made;
}

/// Tensors without a place are read as well: a checkpoint is whole or is not.
expected<std::optional<state_parts::run>> state_parts::read_run(int64_t bytes) {
  for (;;) {
    auto read = reader_->next(bytes);
    if (!read)
      return fail(std::move(read.error()));
    if (!*read)
      return std::nullopt;
    auto& [index, first, elements] = **read;
    if (auto made = places_[index]) {
      made->piece.first = first;
      made->piece.elements = std::move(elements);
      return made;
    }
  }
}

}  // namespace troupe
