#include "cluster/partition.hpp"

#include "cluster/row_split.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

using named_parts = std::map<std::string, axis_parts>;

/// The product of all factors, which are at least 1; above `most` it is most + 1.
int64_t product_of(const std::vector<int64_t>& factors, int64_t most) {
  int64_t product = 1;
  for (const int64_t f : factors)
    product = f > most / product ? most + 1 : product * f;
  return product;
}

expected<void> check(const axis_parts& parts, const std::string& name, const shape& dims, int64_t cores) {
  if (!parts)
    return {};
  const auto label = [&] { return "the partition [" + joined(*parts) + "] of " + name; };
  if (static_cast<int>(parts->size()) != dims.rank())
    return fail(errc::invalid_argument, label() + " needs a number for each axis of its shape " + to_text(dims));
  if (std::any_of(parts->begin(), parts->end(), [](int64_t f) { return f < 1; }))
    return fail(errc::invalid_argument, label() + " must have numbers of at least 1");
  if (const int64_t product = product_of(*parts, cores); product != cores && product != 1)
    return fail(errc::invalid_argument, label() + " must make 1 part or as many as cores_per_replica, "
                                            + std::to_string(cores)
                                            + (product > cores ? ", not more" : ", not " + std::to_string(product)));
  return {};
}

template <class Map>
std::string names_of(const Map& named) {
  return joined(named, ", ", [](const auto& entry) { return quoted(entry.first); });
}

expected<named_parts> resolve_side(const side_partition& side, const component_shapes& components,
                                   const std::string& what, int64_t cores) {
  named_parts parts;
  if (const auto* by_name = std::get_if<named_parts>(&side)) {
    const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
    if (!std::equal(by_name->begin(), by_name->end(), components.begin(), components.end(), same_name))
      return fail(errc::invalid_argument, "the partition of the " + what + " must name " + names_of(components)
                                              + ", not " + names_of(*by_name));
    parts = *by_name;
  } else {
    const auto& of_all = std::get<axis_parts>(side);
    if (of_all && components.size() != 1)
      return fail(errc::invalid_argument, "the partition [" + joined(*of_all) + "] must say by name to which of the "
                                              + what + " it belongs: " + names_of(components));
    for (const auto& c : components)
      parts.emplace(c.first, of_all);
  }
  for (const auto& [name, of_component] : parts)
    if (auto sound = check(of_component, name, components.at(name), cores); !sound)
      return fail(sound.error());
  return parts;
}

}  // namespace

expected<void> validate(const input_partition& p, input_mode m, std::optional<int64_t> cores_per_replica) {
  if (p.empty() || p.size() > 2)
    return fail(errc::invalid_argument,
                "a partition has one entry for the features and may have one for the labels, not "
                    + std::to_string(p.size()) + " entries");
  if (const auto* features = std::get_if<axis_parts>(&p[0]); features && !*features)
    return fail(errc::invalid_argument, "a partition must say how the features are cut, not none");
  if (!cores_per_replica)
    return fail(errc::invalid_argument, "a partition needs cores_per_replica, which is not given");
  if (m != input_mode::per_replica)
    return fail(errc::invalid_argument, "a partition needs input mode per_replica, not " + std::string{to_string(m)});
  return {};
}

expected<component_parts> resolve(const input_partition& p, const component_shapes& features,
                                  const component_shapes& labels, int64_t cores_per_replica) {
  auto of_features = resolve_side(p.at(0), features, "features", cores_per_replica);
  if (!of_features)
    return fail(of_features.error());
  auto of_labels = resolve_side(p.size() > 1 ? p[1] : side_partition{}, labels, "labels", cores_per_replica);
  if (!of_labels)
    return fail(of_labels.error());
  return component_parts{std::move(*of_features), std::move(*of_labels)};
}

std::vector<int64_t> block_extents(int64_t extent, int64_t parts) {
  const int64_t block = extent / parts + (extent % parts == 0 ? 0 : 1);
  std::vector<int64_t> all;
  for (int64_t i = 0, left = extent; i < parts; ++i) {
    all.push_back(std::min(block, left));
    left -= all.back();
  }
  return all;
}

expected<std::vector<std::optional<tensor>>> blocks_of(const tensor& whole, const axis_parts& parts, int64_t cores) {
  if (auto sound = check(parts, "a tensor", whole.dims(), cores); !sound)
    return fail(sound.error());
  if (!parts)
    return std::vector<std::optional<tensor>>(static_cast<size_t>(cores), whole);
  std::vector<std::optional<tensor>> blocks{whole};
  for (size_t axis = 0; axis < parts->size(); ++axis) {
    const auto extents = block_extents(whole.dims()[static_cast<int>(axis)], (*parts)[axis]);
    std::vector<std::optional<tensor>> finer;
    for (const auto& block : blocks) {
      int64_t first = 0;
      for (const int64_t extent : extents) {
        auto piece = cut(*block, static_cast<int>(axis), first, extent);
        if (!piece)
          return fail(piece.error());
        finer.emplace_back(std::move(*piece));
        first += extent;
      }
    }
    blocks = std::move(finer);
  }
  blocks.resize(static_cast<size_t>(cores));  // A product of 1 leaves nothing for the cores after the first.
  return blocks;
}

}  // namespace troupe
