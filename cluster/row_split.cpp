#include "cluster/row_split.hpp"

#include "words/expect.hpp"

#include <algorithm>

namespace troupe {

namespace {

expected<void> check(const tensor& component, size_t index, int64_t axis, int64_t parts) {
  const auto named = [&] { return "component " + std::to_string(index) + " of shape " + to_text(component.dims()); };
  if (axis < 0 || axis >= component.dims().rank())
    return fail(errc::invalid_argument, named() + " has no axis " + std::to_string(axis) + " to be split along");
  const int64_t extent = component.dims()[static_cast<int>(axis)];
  if (extent % parts != 0)
    return fail(errc::invalid_argument, named() + " cannot be split along axis " + std::to_string(axis) + " into "
                                            + std::to_string(parts) + " parts: " + std::to_string(extent)
                                            + " is no multiple of it");
  return {};
}

}  // namespace

expected<tensor> cut(const tensor& whole, int axis, int64_t first, int64_t count) {
  const auto& from = whole.dims();
  expect(axis >= 0 && axis < from.rank() && first >= 0 && count >= 0 && first + count <= from[axis],
         "indices that an axis does not have are cut out");
  if (axis == 0)
    return whole.slice(first, count);
  std::vector<int64_t> extents(from.extents().begin(), from.extents().end());
  extents[static_cast<size_t>(axis)] = count;
  const shape dims{extents};
  const auto outer = shape{from.extents().first(static_cast<size_t>(axis))}.elements();
  const auto index_bytes = shape{from.extents().subspan(static_cast<size_t>(axis) + 1)}.elements()
                           * size_of(whole.type());
  const int64_t bytes = outer * count * index_bytes;
  auto memory = allocate_buffer(bytes);
  if (!memory)
    return fail(errc::resource_exhausted, "no memory for a part of shape " + to_text(dims) + " of a batch");
  if (bytes > 0)
    for (int64_t o = 0; o < outer; ++o)
      std::memcpy(memory.get() + o * count * index_bytes, whole.data() + (o * from[axis] + first) * index_bytes,
                  static_cast<size_t>(count * index_bytes));
  return tensor{whole.type(), dims, std::move(memory)};
}

expected<std::vector<std::vector<tensor>>> split(std::span<const tensor> components, int64_t parts,
                                                 std::span<const int64_t> axes) {
  if (components.empty())
    return fail(errc::invalid_argument, "a batch without components cannot be split");
  if (parts < 1)
    return fail(errc::invalid_argument, "a batch must be split into at least 1 part, not " + std::to_string(parts));
  if (!axes.empty() && axes.size() != components.size())
    return fail(errc::invalid_argument, "a batch of " + std::to_string(components.size()) + " components needs as many "
                                            + "axes to be split along, not " + std::to_string(axes.size()));
  if (parts == 1)
    return std::vector<std::vector<tensor>>{{components.begin(), components.end()}};
  std::vector<std::vector<tensor>> all(static_cast<size_t>(parts));
  for (size_t c = 0; c < components.size(); ++c) {
    const int64_t axis = axes.empty() ? 0 : axes[c];
    if (auto sound = check(components[c], c, axis, parts); !sound)
      return fail(sound.error());
    const int64_t count = components[c].dims()[static_cast<int>(axis)] / parts;
    for (int64_t i = 0; i < parts; ++i) {
      auto part = cut(components[c], static_cast<int>(axis), i * count, count);
      if (!part)
        return fail(part.error());
      all[static_cast<size_t>(i)].push_back(std::move(*part));
    }
  }
  return all;
}

}  // namespace troupe
