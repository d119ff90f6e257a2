#include "actors/writers/state_parts.hpp"

#include <algorithm>

namespace troupe {

state_parts::state_parts(layouts groups, std::vector<named_tensor> tensors, int64_t part_bytes) : part_bytes_(part_bytes) {
  for (const auto& group : groups)
    for (auto& t : tensors)
      if (const auto entry = group.layout->find(t.name); entry >= 0 && t.value.elements() > 0)
        left_.push_back({group.group, group.layout->entries()[static_cast<size_t>(entry)].trainable, {t.name, std::move(t.value)}});
}

state_parts::state_parts(layouts groups, uint64_t seed, std::vector<named_tensor> tensors, int64_t part_bytes)
  : state_parts(groups, std::move(tensors), part_bytes) {
  seed_ = seed;
  for (const auto& group : groups)
    initial_.push_back(group.group);
}

std::optional<state_parts::addressed> state_parts::next() {
  if (!initial_.empty()) {
    addressed one{initial_.front(), {.initial = true, .seed = seed_}};
    initial_.pop_front();
    return one;
  }
  if (left_.empty())
    return std::nullopt;
  addressed one{left_.front().group, {}};
  for (int64_t room = part_bytes_; !left_.empty() && left_.front().group == one.to;) {
    const auto& [group, trainable, from] = left_.front();
    const int64_t width = size_of(from.value.type());
    const int64_t count = std::min(from.value.elements() - first_, room / width);
    if (count == 0)
      break;
    const auto extents = from.value.dims().extents();
    one.part.pieces.push_back({from.name, {extents.begin(), extents.end()}, first_, trainable,
                               tensor{from.value.type(), shape{count}, {from.value.buffer(), from.value.data() + first_ * width}}});
    room -= count * width;
    first_ += count;
    if (first_ < from.value.elements())
      break;
    first_ = 0;
    left_.pop_front();
  }
  return one;
}

}  // namespace troupe
