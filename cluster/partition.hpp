// Spatial partitions: the blocks of a batch's components that the cores of one replica get (TPUConfig's
// input_partition_dims). Functions only: no engine runs a replica on several cores.
//
//   const input_partition halves{axis_parts{{1, 2}}};            // The only feature, cut in two along axis 1.
//   blocks_of(image, axis_parts{{1, 2}}, 2);                      // What cores 0 and 1 get of it.
#pragma once

#include <troupe/deployment.hpp>
#include <troupe/tensor.hpp>

#include <map>
#include <variant>

namespace troupe {

/// Into how many parts each axis of a component is cut, outermost first. Absent: each core gets the whole component.
using axis_parts = std::optional<std::vector<int64_t>>;
/// The same for all components of a side, by name; or of its only component, without a name. Absent for labels stands
/// for all of them.
using side_partition = std::variant<axis_parts, std::map<std::string, axis_parts>>;
/// Of the features, and after them of the labels; without the latter no label is cut.
using input_partition = std::vector<side_partition>;

/// Checks what does not depend on the data. `cores_per_replica` is absent if it was not given. invalid_argument: a
/// partition of more or less than one or two sides, without features, of an input mode other than per_replica, or
/// without `cores_per_replica`.
expected<void> validate(const input_partition& p, input_mode m, std::optional<int64_t> cores_per_replica);

/// Components by name, with their shapes in a batch.
using component_shapes = std::map<std::string, shape>;
struct component_parts {
  std::map<std::string, axis_parts> features, labels;
};
/// The parts of each component. invalid_argument naming the component: names other than the components', another number
/// of axes than it has, a number below 1, or a product other than 1 and `cores_per_replica`.
expected<component_parts> resolve(const input_partition& p, const component_shapes& features,
                                  const component_shapes& labels, int64_t cores_per_replica);

/// The extents of the blocks of one axis: each is the quotient, rounded up, until nothing is left; the last ones may be
/// smaller or 0. `parts` is at least 1.
std::vector<int64_t> block_extents(int64_t extent, int64_t parts);

/// What each of `cores` cores gets: the whole for all if `parts` is absent; the whole for core 0 alone if their product
/// is 1; else block k for core k, counted row-major over the axes, without padding. Errors as `resolve`, and
/// resource_exhausted.
expected<std::vector<std::optional<tensor>>> blocks_of(const tensor& whole, const axis_parts& parts, int64_t cores);

}  // namespace troupe
