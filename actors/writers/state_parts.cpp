#include "actors/writers/state_parts.hpp"

#include <algorithm>
#include <map>

namespace troupe {

state_parts::state_parts(stored_groups groups, std::vector<named_tensor> tensors, int64_t part_bytes)
  : part_bytes_(part_bytes) {
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
  : state_parts(groups, std::move(from), {}, 0, part_bytes) {
  initial_.clear();
}

state_parts::state_parts(stored_groups groups, std::unique_ptr<checkpoint_reader> from, const stored_growth& growth,
                         uint64_t seed, int64_t part_bytes)
  : reader_(std::move(from)), part_bytes_(part_bytes), seed_(seed) {
  std::multimap<std::string, addressed_piece> places;
  for (const auto& group : groups) {
    initial_.push_back(group.group);
    for (const auto& e : group.entries)
      if (!growth.is_fresh(e.name))
        places.emplace(growth.before(e.name), addressed_piece{group.group, {e.name, {}, 0, e.trainable, {}}});
  }
  for (const auto& t : reader_->info().tensors) {
    auto& all = places_.emplace_back();
    const auto extents = t.dims.extents();
    for (auto [at, end] = places.equal_range(t.name); at != end; ++at) {
      all.push_back(std::move(at->second));
      all.back().piece.dims = {extents.begin(), extents.end()};
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
    if (held_.empty()) {
      auto found = next_piece(room);
      if (!found)
        return fail(std::move(found.error()));
      if (!*found)
        break;
      held_.push_front(std::move(**found));
    }
    if (one && held_.front().to != one->to)
      break;
    auto next = std::move(held_.front());
    held_.pop_front();
    if (!one)
      one.emplace(addressed{next.to, {}});
    room -= next.piece.elements.byte_size();
    one->part.pieces.push_back(std::move(next.piece));
  }
  return one;
}

expected<std::optional<state_parts::addressed_piece>> state_parts::next_piece(int64_t bytes) {
  if (reader_)
    return read_piece(bytes);
  if (left_.empty())
    return std::nullopt;
  const auto& [group, trainable, from] = left_.front();
  const auto& value = from.value;
  const int64_t width = size_of(value.type());
  const int64_t count = std::min(value.elements() - first_, std::max(bytes / width, int64_t{1}));
  const auto extents = value.dims().extents();
  addressed_piece made{group,
                       {from.name,
                        {extents.begin(), extents.end()},
                        first_,
                        trainable,
                        tensor{value.type(), shape{count}, {value.buffer(), value.data() + first_ * width}}}};
  first_ += count;
  if (first_ == value.elements()) {
    first_ = 0;
    left_.pop_front();
  }
  return made;
}

/// Reads tensors without a place, too: only a checkpoint that is whole may be used.
expected<std::optional<state_parts::addressed_piece>> state_parts::read_piece(int64_t bytes) {
  for (;;) {
    auto read = reader_->next(bytes);
    if (!read)
      return fail(std::move(read.error()));
    if (!*read)
      return std::nullopt;
    const auto& [index, first, elements] = **read;
    for (auto made : places_[index]) {
      made.piece.first = first;
      made.piece.elements = elements;
      held_.push_back(std::move(made));
    }
    if (!held_.empty()) {
      auto one = std::move(held_.front());
      held_.pop_front();
      return one;
    }
  }
}

}  // namespace troupe
