#include "actors/writers/snapshot_assembly.hpp"

#include "compute/kernels/finite.hpp"

#include <algorithm>

namespace troupe {

expected<std::vector<named_tensor>> join_pieces(std::span<const variable_piece* const> pieces) {
  std::map<std::string, std::vector<const variable_piece*>> by_name;
  for (const auto* p : pieces)
    by_name[p->name].push_back(p);
  std::vector<named_tensor> whole;
  for (auto& [name, runs] : by_name) {
    std::sort(runs.begin(), runs.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    const shape dims{std::span<const int64_t>{runs.front()->dims}};
    int64_t next = 0;
    bool adjacent = true;
    for (const auto* run : runs) {
      if (run->first != next || run->elements.type() != runs.front()->elements.type())
        return fail(errc::invalid_argument, "the snapshot of " + name + " has no run at element " + std::to_string(next)
                                                + " but one at " + std::to_string(run->first));
      const auto width = size_of(run->elements.type());
      adjacent = adjacent && run->elements.data() == runs.front()->elements.data() + next * width;
      next += run->elements.elements();
    }
    if (next != dims.elements())
      return fail(errc::invalid_argument, "the snapshot of " + name + " has " + std::to_string(next) + " elements of "
                                              + std::to_string(dims.elements()));
    const auto type = runs.front()->elements.type();
    if (adjacent) {
      whole.push_back({name, tensor{type, dims, runs.front()->elements.buffer()}});
      continue;
    }
    auto joined = allocate_buffer(dims.elements() * size_of(type));
    if (!joined)
      return fail(errc::resource_exhausted, "no memory to join the runs of " + name);
    for (const auto* run : runs)
      std::copy_n(run->elements.data(), run->elements.byte_size(), joined.get() + run->first * size_of(type));
    whole.push_back({name, tensor{type, dims, std::move(joined)}});
  }
  return whole;
}

expected<void> check_finite(std::span<const variable_piece* const> pieces) {
  for (const auto* p : pieces)
    if (p->trainable && !is_finite(p->elements))
      return fail(errc::nan_loss, "variable " + p->name + " is not finite; the checkpoint is not written");
  return {};
}

std::string missing_parts(std::span<const expected_part> wanted, int64_t step,
                          const std::map<node_id, snapshot_part>& have) {
  std::string missing;
  for (const auto& part : wanted)
    if (step < part.until && !have.contains(part.id))
      missing += (missing.empty() ? "" : ", ") + part.name;
  return missing;
}

}  // namespace troupe
